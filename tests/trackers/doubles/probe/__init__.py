"""A stand-in for probe-research that records what it is given and is as strict as the SDK (0.337)."""

from __future__ import annotations

import atexit

import recording

_KNOWN = {
    "name", "config", "project", "experiment", "question", "description", "notes", "tags", "intent", "external_id",
    "on_conflict", "mode", "reinit", "outputs", "capture_outputs", "capture_reads", "source",
}
_active = None


class Run:
    def __init__(self, given):
        unknown = set(given) - _KNOWN
        if unknown:
            raise TypeError(f"unknown keywords: {sorted(unknown)}")
        if given.get("mode") not in (None, "online", "offline", "disabled"):
            raise ValueError(f"mode {given['mode']!r}")
        self.disabled = given.get("mode") == "disabled"
        self.record = {"given": recording.plain(given), "series": [], "status": None}
        if not self.disabled:
            recording.probe.append(self.record)
        atexit.register(self.finish)

    def log(self, metrics, *, step=None, wall_clock=None):
        assert self.record["status"] is None, "log after finish"
        for key, value in metrics.items():
            assert isinstance(key, str) and isinstance(value, float) and type(step) is int, (key, value, step)
            # The server keeps the first point of a key at a step.
            if not any(p[:2] == [key, step] for p in self.record["series"]):
                self.record["series"].append([key, step, value])

    def finish(self, status="completed"):
        global _active
        self.record["status"] = self.record["status"] or status
        if _active is self:
            _active = None

    def link(self, **ids):
        pass


def init(**given):
    global _active
    if _active is not None:
        _active.finish()
    _active = Run(given)
    return _active


def active_run():
    return _active


def log(metrics, *, step=None, wall_clock=None):
    if _active is None:
        raise RuntimeError("no open run")
    _active.log(metrics, step=step, wall_clock=wall_clock)


def finish(status="completed"):
    if _active is not None:
        _active.finish(status)
