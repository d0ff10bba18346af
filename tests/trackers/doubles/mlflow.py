"""A stand-in for mlflow 3 that records every call; a metric without a step is at step 0."""

from __future__ import annotations

import recording

_active = []


class ActiveRun:
    def __init__(self, name):
        self.info = self
        self.run_id, self.run_name = f"r{len(recording.runs)}", name
        self.record = recording.open_run("mlflow")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        end_run()


def start_run(run_id=None, experiment_id=None, run_name=None, nested=False, **rest):
    recording.record("mlflow", "start_run", run_name=run_name, nested=nested)
    _active.append(ActiveRun(run_name))
    return _active[-1]


def end_run(status="FINISHED"):
    recording.record("mlflow", "end_run", status)
    if _active:
        _active.pop()


def active_run():
    return _active[-1] if _active else None


def log_metric(key, value, step=None, **rest):
    recording.record("mlflow", "log_metric", key, value, step=step)
    if not _active:
        start_run()
    recording.point(_active[-1].record, key, value, step or 0)


def log_metrics(metrics, step=None, **rest):
    recording.record("mlflow", "log_metrics", metrics, step=step)
    if not _active:
        start_run()
    for key, value in metrics.items():
        recording.point(_active[-1].record, key, value, step or 0)


def _ignored(name):
    return lambda *args, **kwargs: recording.record("mlflow", name, *args, **kwargs)


set_experiment, log_param, log_params = _ignored("set_experiment"), _ignored("log_param"), _ignored("log_params")
log_artifact, set_tag, set_tags = _ignored("log_artifact"), _ignored("set_tag"), _ignored("set_tags")


class MlflowClient:
    def create_run(self, experiment_id, **rest):
        recording.record("mlflow", "create_run", experiment_id)
        self._run = ActiveRun(None)
        return self._run

    def log_metric(self, run_id, key, value, timestamp=None, step=None):
        recording.record("mlflow", "client.log_metric", key, value, step=step)
        recording.point(self._run.record, key, value, step or 0)

    def set_terminated(self, run_id, status=None):
        recording.record("mlflow", "set_terminated", status)
