"""A stand-in for neptune_scale 0.30 that records every call."""

from __future__ import annotations

import recording


class Run:
    def __init__(self, **given):
        recording.record("neptune_scale", "Run", **given)
        self._run = recording.open_run("neptune_scale")

    def log_metrics(self, data, step, *, timestamp=None, preview=False):
        recording.record("neptune_scale", "log_metrics", data, step)
        for key, value in data.items():
            recording.point(self._run, key, value, step)

    def log_configs(self, data, flatten=False):
        recording.record("neptune_scale", "log_configs", data)

    def close(self):
        recording.record("neptune_scale", "close")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
