"""Adapted from verl, with a logger for a UI."""

import time

from rllm import probe_tracking as probe


class Tracking:
    supported_backend = [
        "console",
        "ui",
    ]

    def __init__(self, project_name, experiment_name, default_backend="console", config=None, source_metadata=None):
        for backend in default_backend:
            assert backend in self.supported_backend, f"{backend} is not supported"
        self.logger = {}
        self._finished = False
        if "ui" in default_backend:
            self.logger["ui"] = UILogger(project_name, experiment_name, config)

        probe.init(name=experiment_name, config=config)

    def log(self, data, step, backend=None, episodes=None, trajectory_groups=None):
        """Log metrics, and episodes where a logger takes them."""
        if backend is None:
            probe.log(data, step=step)
        for name, logger in self.logger.items():
            if backend is None or name in backend:
                logger.log(data=data, step=step, episodes=episodes)

    def finish(self):
        """Safe to call several times."""
        probe.finish()
        if self._finished:
            return
        self._finished = True

    def __del__(self):
        self.finish()


class UILogger:
    def __init__(self, project_name, experiment_name, config):
        self.since = time.time()

    def log(self, data, step, episodes=None):
        print(step, data, len(episodes or ()))
