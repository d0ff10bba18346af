"""A stand-in for wandb that records every call, with W&B's rules for steps (0.19 to 0.31)."""

from __future__ import annotations

import atexit
import os

import recording

run = None
config = None
summary = None


class Config(dict):
    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        recording.record("wandb", "config." + name, value)
        self[name] = value

    def update(self, *args, allow_val_change=None, **kwargs):
        recording.record("wandb", "config.update", *args, **kwargs)
        given = [dict(a) if hasattr(a, "keys") else vars(a) for a in args]
        super().update(*given, **kwargs)


class Summary(dict):
    def __setitem__(self, key, value):
        recording.record("wandb", "summary", key, value)
        super().__setitem__(key, value)

    def update(self, *args):
        recording.record("wandb", "summary.update", *args)


class Run:
    def __init__(self, given):
        self.name, self.id = given.get("name") or "quiet-spiral-1", "double01"
        self.disabled = (given.get("mode") or os.environ.get("WANDB_MODE")) == "disabled"
        given_config = given.get("config") or {}
        self.config = Config(given_config if hasattr(given_config, "keys") else vars(given_config))
        self.summary = Summary()
        #: The step of the row that is open, and the count that the library keeps, which runs on at a row that is dropped.
        self.step = self._local_step = 0
        self._row, self._open = {}, True
        self._run = recording.open_run("wandb") if not self.disabled else None
        atexit.register(self.finish)

    def log(self, data, step=None, commit=None):
        recording.record("wandb", "log", data, step=step, commit=commit)
        if self.disabled:
            return
        if not self._open:
            raise RuntimeError("the run is finished")
        if step is None and commit is None:
            commit = True
        step = None if step is None else int(step)
        self._local_step = max(self._local_step, -1 if step is None else step) + bool(commit)
        if step is not None and step < self.step:
            return None
        if step is not None and step > self.step:
            self._commit()
            self.step = step
        self._row.update(recording.numbers(data))
        if commit:
            self._commit()
            self.step += 1
        return None

    def _commit(self):
        for key, value in self._row.items():
            recording.point(self._run, key, value, self.step)
        self._row = {}

    def _call(name):
        def call(self, *args, **kwargs):
            recording.record("wandb", name, *args, **kwargs)

        return call

    define_metric, watch, alert = _call("define_metric"), _call("watch"), _call("alert")
    log_artifact, save, log_code = _call("log_artifact"), _call("save"), _call("log_code")
    mark_preempting, use_artifact = _call("mark_preempting"), _call("use_artifact")

    def finish(self, exit_code=None):
        global run
        if not self._open:
            return
        recording.record("wandb", "finish", exit_code)
        self._open = False
        if not self.disabled:
            self._commit()
        if run is self:
            run = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.finish(0 if kind is None else 1)


def init(project=None, name=None, config=None, **rest):
    global run, summary
    recording.record("wandb", "init", project=project, name=name, config=config, **rest)
    if run is not None and rest.get("reinit") != "create_new":
        run.finish()
    made = Run({"name": name, "config": config, **rest})
    run = made
    globals()["config"], summary = made.config, made.summary
    return made


def _module(name):
    def call(*args, **kwargs):
        if run is None:
            raise RuntimeError(f"You must call wandb.init() before wandb.{name}()")
        return getattr(run, name)(*args, **kwargs)

    return call


log, define_metric, watch, alert = _module("log"), _module("define_metric"), _module("watch"), _module("alert")
log_artifact, save = _module("log_artifact"), _module("save")


def finish(exit_code=None):
    if run is not None:
        run.finish(exit_code)


def login(*args, **kwargs):
    recording.record("wandb", "login")


class Settings:
    def __init__(self, **given):
        pass


class _Media:
    def __init__(self, *args, **kwargs):
        recording.record("wandb", type(self).__name__)


class Image(_Media): pass
class Table(_Media): pass
class Histogram(_Media): pass
class Video(_Media): pass
class Artifact(_Media): pass


def sweep(*args, **kwargs):
    recording.record("wandb", "sweep")
    return "sweep1"


def agent(sweep_id, function=None, count=1, **rest):
    for _ in range(count or 1):
        function()


class Api:
    def run(self, path):
        return ApiRun()

    def runs(self, path):
        return [ApiRun()]


class ApiRun:
    def log(self, data):
        recording.record("wandb", "Api.run.log", data)

    def log_artifact(self, *args):
        recording.record("wandb", "Api.run.log_artifact")
