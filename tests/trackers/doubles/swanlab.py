"""A stand-in for swanlab 0.10: a row without a step takes the one after the greatest; the first is 1."""

from __future__ import annotations

import recording

_run = None


class Run:
    def __init__(self, given):
        recording.record("swanlab", "init", **given)
        self._run = recording.open_run("swanlab")
        self._next = 1

    def log(self, data, step=None):
        recording.record("swanlab", "log", data, step=step)
        at = self._next if step is None else step
        self._next = max(self._next, at + 1)
        for key, value in recording.numbers(data, "/").items():
            recording.point(self._run, key, value, at)

    def log_scalar(self, *, key, value, step=None):
        self.log({key: value}, step=step)

    def finish(self):
        recording.record("swanlab", "finish")


def init(project=None, name=None, config=None, **rest):
    global _run
    _run = Run({"project": project, "name": name, "config": config, **rest})
    return _run


def log(metrics=None, step=None, data=None):
    _run.log(metrics if metrics is not None else data, step=step)


def finish():
    _run.finish()
