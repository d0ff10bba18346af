"""A stand-in for wandb that records what it is given: no account, no network, no service process.

Steps follow W&B's rules (wandb 0.19 to 0.31): `log` without a step commits a row and counts on; with a step the row is
held until a higher step comes; a step below the current one is dropped. At the end every committed row is one line of
JSON, {"step": ..., "row": {...}}, in the file that $WANDB_DOUBLE names.
"""

from __future__ import annotations

import atexit
import json
import os

run = None
config = None


class Config(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__

    def update(self, *args, allow_val_change=None, **kwargs):
        super().update(*args, **kwargs)


class Run:
    def __init__(self, project=None, name=None, config=None, **rest):
        self.project, self.name, self.id = project, name or "quiet-spiral-1", "double01"
        self.entity, self.url, self.disabled = "nobody", None, False
        self.config, self.summary = Config(config or {}), {}
        self.step = 0
        self._row = {}
        self._rows = []
        self._open = True
        atexit.register(self.finish)

    def log(self, data, step=None, commit=None):
        if step is not None:
            if step < self.step:
                return
            if step > self.step:
                self._commit()
                self.step = step
        elif commit is None:
            commit = True
        self._row.update(data)
        if commit:
            self._commit()
            self.step += 1

    def _commit(self):
        if self._row:
            self._rows.append({"step": self.step, "row": self._row})
            self.summary.update(self._row)
        self._row = {}

    def define_metric(self, *args, **kwargs):
        pass

    def watch(self, *args, **kwargs):
        pass

    def finish(self, exit_code=None):
        global run
        if not self._open:
            return
        self._open = False
        self._commit()
        if os.environ.get("WANDB_DOUBLE"):
            with open(os.environ["WANDB_DOUBLE"], "a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in self._rows)
        if run is self:
            run = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.finish(exit_code=0 if kind is None else 1)


def init(project=None, name=None, config=None, **rest):
    global run
    if run is not None:
        run.finish()
    run = Run(project=project, name=name, config=config, **rest)
    globals()["config"] = run.config
    return run


def log(data, step=None, commit=None):
    if run is None:
        raise RuntimeError("You must call wandb.init() before wandb.log()")
    run.log(data, step=step, commit=commit)


def define_metric(*args, **kwargs):
    pass


def finish(exit_code=None):
    if run is not None:
        run.finish(exit_code)
