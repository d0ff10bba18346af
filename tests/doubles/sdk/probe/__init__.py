"""A stand-in for the SDK's module that records what a run is given: no account, no network, no outbox.

Every run is one line of JSON in the file that $PROBE_DOUBLE names, written when it is closed: its config, its points
(key, step, value) in order, and its status. A run that is open at exit is closed then, as the SDK closes it.
"""

from __future__ import annotations

import atexit
import json
import os

_open = []


class Run:
    def __init__(self, name=None, config=None, **rest):
        self.name, self.config, self.rest = name, config, rest
        self.points, self.status = [], None
        _open.append(self)

    def log(self, metrics, *, step, wall_clock=None):
        if self.status is not None:
            raise RuntimeError("the run is closed")
        self.points += [[key, step, value] for key, value in metrics.items()]

    def finish(self, status="completed"):
        if self.status is not None:
            return
        self.status = status
        _open.remove(self)
        with open(os.environ["PROBE_DOUBLE"], "a", encoding="utf-8") as file:
            config = {key: value if isinstance(value, (int, float, str, type(None))) else repr(value)
                      for key, value in (self.config or {}).items()}
            file.write(json.dumps({"config": config, "points": self.points, "status": self.status}) + "\n")


def init(**given):
    if _open:
        finish()
    return Run(**given)


def active_run():
    return _open[-1] if _open else None


def finish(status="completed"):
    if _open:
        _open[-1].finish(status)


atexit.register(lambda: [run.finish("exit") for run in list(_open)])
