"""A stand-in for clearml 2.1 that records every call and keeps scalars as ClearML does."""

from __future__ import annotations

import recording

_task = None


class Logger:
    def __init__(self):
        self._run = recording.open_run("clearml")
        self._count = 0

    @classmethod
    def current_logger(cls):
        return _task.get_logger()

    def report_scalar(self, title, series, value, iteration):
        recording.record("clearml", "report_scalar", title, series, value, iteration)
        recording.point(self._run, f"{title}/{series}", value, iteration)
        self._count = max(self._count, iteration)

    def report_single_value(self, name, value):
        recording.record("clearml", "report_single_value", name, value)
        recording.point(self._run, f"Summary/{name}", value, self._count)
        self._count += 1

    def report_text(self, *args):
        recording.record("clearml", "report_text", *args)

    report_image = report_histogram = report_text


class Task:
    def __init__(self, name):
        self.name = name
        self._logger = Logger()

    @classmethod
    def init(cls, project_name=None, task_name=None, **rest):
        global _task
        recording.record("clearml", "init", project_name, task_name)
        _task = cls(task_name)
        return _task

    @classmethod
    def current_task(cls):
        return _task

    def get_logger(self):
        return self._logger

    @property
    def logger(self):
        return self._logger

    def connect(self, value, name=None):
        recording.record("clearml", "connect", value)
        return value

    def close(self):
        recording.record("clearml", "close")
