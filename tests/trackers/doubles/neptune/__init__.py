"""A stand-in for neptune 1.14 that records every call and keeps series as Neptune does."""

from __future__ import annotations

import recording


class Handler:
    def __init__(self, run, path):
        self._of, self._path = run, path

    def __getitem__(self, path):
        return Handler(self._of, f"{self._path}/{path}")

    def __setitem__(self, path, value):
        self[path].assign(value)

    def _point(self, path, value, step):
        if isinstance(value, dict):
            for key, item in value.items():
                self._point(f"{path}/{key}", item, step)
        elif isinstance(value, (int, float)):
            at = self._of._next.get(path, 0) if step is None else step
            self._of._next[path] = at + 1
            recording.point(self._of._run, path, value, at)

    def assign(self, value, *, wait=False):
        recording.record("neptune", "assign", self._path, value)
        if isinstance(value, (int, float)) and self._path.split("/")[0] not in ("parameters", "sys", "config"):
            self._point(self._path, value, None)

    def append(self, value, *, step=None, timestamp=None, wait=False):
        recording.record("neptune", "append", self._path, value, step=step)
        self._point(self._path, value, step)

    def log(self, value, *, step=None, timestamp=None, wait=False):
        recording.record("neptune", "log", self._path, value, step=step)
        for item in value if isinstance(value, list) else [value]:
            self._point(self._path, item, step)

    def extend(self, values, *, steps=None, timestamps=None, wait=False):
        recording.record("neptune", "extend", self._path, values, steps=steps)
        if isinstance(values, dict):
            for key, items in values.items():
                for number, item in enumerate(items):
                    self._point(f"{self._path}/{key}", item, steps[number] if steps else None)
            return
        for number, item in enumerate(values):
            self._point(self._path, item, steps[number] if steps else None)

    def upload(self, value):
        recording.record("neptune", "upload", self._path)

    def add(self, value):
        recording.record("neptune", "add", self._path, value)


class Run:
    def __init__(self, *args, name=None, mode="async", **rest):
        recording.record("neptune", "init_run", *args, name=name, mode=mode)
        self._run = recording.open_run("neptune") if mode != "debug" else {"series": []}
        self._next = {}

    def __getitem__(self, path):
        return Handler(self, path)

    def __setitem__(self, path, value):
        self[path].assign(value)

    def stop(self):
        recording.record("neptune", "stop")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stop()


def init_run(*args, **kwargs):
    return Run(*args, **kwargs)
