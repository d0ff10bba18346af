"""A stand-in for comet_ml 3.58 that records every call and keeps the metrics as Comet does."""

from __future__ import annotations

import contextlib

import recording

_current = None


class Experiment:
    def __init__(self, *args, disabled=False, **kwargs):
        global _current
        recording.record("comet", "Experiment", *args, **kwargs)
        self.curr_step = None
        self.context = None
        self.disabled = disabled
        self._run = recording.open_run("comet") if not disabled else None
        self._counts = {}
        _current = self

    def set_step(self, step):
        self.curr_step = self.curr_step if step is None else step

    def set_name(self, name):
        recording.record("comet", "set_name", name)

    def log_parameters(self, *args, **kwargs):
        recording.record("comet", "log_parameters", *args)

    log_parameter = log_image = log_asset = log_parameters

    def log_metric(self, name, value, step=None, epoch=None, include_context=True):
        recording.record("comet", "log_metric", name, value, step=step, epoch=epoch)
        self._metric(name, value, step, include_context)

    def _metric(self, name, value, step, include_context):
        self.set_step(step)
        if self.disabled or not isinstance(value, (int, float)):
            return
        key = f"{self.context}_{name}" if self.context and include_context else name
        # Comet has no index for a metric without a step: the one after its last.
        at = self._counts.get(key, 0) if self.curr_step is None else self.curr_step
        self._counts[key] = at + 1
        recording.point(self._run, key, value, at)

    def log_metrics(self, dic, prefix=None, step=None, epoch=None, include_context=True):
        recording.record("comet", "log_metrics", dic, prefix=prefix, step=step)
        self.set_step(step)
        for key, value in recording.numbers(dic).items():
            self._metric(f"{prefix}_{key}" if prefix is not None else key, value, None, include_context)

    @contextlib.contextmanager
    def context_manager(self, context):
        before, self.context = self.context, context
        yield self
        self.context = before

    def train(self):
        return self.context_manager("train")

    def validate(self):
        return self.context_manager("validate")

    def end(self):
        recording.record("comet", "end")


OfflineExperiment = ExistingExperiment = Experiment


def start(*args, **kwargs):
    return Experiment(*args, **kwargs)


def get_global_experiment():
    return _current


def end():
    _current.end()
