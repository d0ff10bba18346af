"""A stand-in for trackio: a row without a step takes the next one, after the last."""

from __future__ import annotations

import recording

_run = None


class Run:
    def __init__(self, given):
        recording.record("trackio", "init", **given)
        self._run = recording.open_run("trackio")
        self._next = 0

    def log(self, data, step=None):
        recording.record("trackio", "log", data, step=step)
        at = self._next if step is None else step
        self._next = max(self._next, at + 1)
        for key, value in recording.numbers(data, "/").items():
            recording.point(self._run, key, value, at)

    def finish(self):
        recording.record("trackio", "finish")


def init(project=None, name=None, config=None, **rest):
    global _run
    _run = Run({"project": project, "name": name, "config": config, **rest})
    return _run


def log(metrics=None, step=None, data=None):
    _run.log(metrics if metrics is not None else data, step=step)


def finish():
    _run.finish()
