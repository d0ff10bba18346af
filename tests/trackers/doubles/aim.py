"""A stand-in for aim 3.29 that records every call and keeps sequences as Aim does; a key is context and name."""

from __future__ import annotations

import recording


class Image:
    def __init__(self, *args):
        pass


Text = Distribution = Image


class Run:
    def __init__(self, run_hash=None, *, repo=None, read_only=False, experiment=None, **rest):
        recording.record("aim", "Run", experiment=experiment)
        self._run = recording.open_run("aim") if not read_only else None
        self._next = {}
        self._attributes = {}
        self.name = "Run: 1"

    def __setitem__(self, key, value):
        recording.record("aim", "set", key, value)
        self._attributes[key] = value

    def track(self, value, name=None, step=None, epoch=None, *, context=None):
        recording.record("aim", "track", value, name=name, step=step, context=context)
        assert (name is None) == isinstance(value, dict)
        for key, number in (value if isinstance(value, dict) else {name: value}).items():
            key = "/".join([*(str(v) for v in (context or {}).values()), key])
            if not isinstance(number, (int, float)):
                continue
            step = self._next.get(key, 0) if step is None else step
            self._next[key] = max(self._next.get(key, 0), step + 1)
            recording.point(self._run, key, number, step)

    def log_artifact(self, *args):
        recording.record("aim", "log_artifact")

    def close(self):
        recording.record("aim", "close")
