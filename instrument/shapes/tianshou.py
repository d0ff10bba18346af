"""tianshou: its loggers, where they are built, and the experiments of its high-level interface.

Read in tianshou 0.5.1, 1.2.0 and 2.0.1: trainers hand each row to `logger.write(step_type, step, data)`, at environment
steps, update steps or epochs; the keys of TensorBoard get their scope in front of it from 1.0 on. WandbLogger opens W&B
with `sync_tensorboard`, so that nothing of it is mirrored elsewhere. An experiment makes its logger when it runs, and a builder that runs
several makes the experiments.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._building import class_calls
from instrument.shapes._callbacks import own_source
from instrument.shapes._recorded import Recorder, record_before, record_built

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "tianshou"
_RECORDER = Recorder(
    rule=NAME, title="tianshou", base="logger",
    why="what the logger writes goes to Probe, at the trainer's own steps",
)  # fmt: skip
_LOGGER = re.compile(r"tianshou\.utils\.(?:\w+\.)*(?:TensorboardLogger|WandbLogger|BasicLogger|BaseLogger)")
_BUILDER = r"tianshou\.highlevel\.(?:\w+\.)*\w+ExperimentBuilder\(\)(?:\.\w+\(\))*"
#: What makes a logger, or an experiment, which makes one when it runs.
_MAKES = re.compile(rf"{_BUILDER}\.build|tianshou\.highlevel\.(?:\w+\.)*LoggerFactory\w*\(\)\.create_logger")
_RUNS = re.compile(rf"{_BUILDER}\.(?:build_and_run|build_seeded_collection)")
_METHODS = frozenset({"build", "create_logger", "build_and_run", "build_seeded_collection"})


def plan(context: Context) -> None:
    """Have every logger recorded."""
    for module in context.modules(b"tianshou", also=(b"Logger(", b"LoggerFactory", b"ExperimentBuilder")):
        if own_source(context, module, NAME):
            continue
        for call in class_calls(module):
            if any(_LOGGER.fullmatch(name) for name in context.program.resolve(module, call.func)):
                _record(context, module, call)
        for call in module.calls():
            func = call.func
            if isinstance(func, ast.Attribute) and func.attr in _METHODS:
                names = context.program.resolve(module, func)
                if any(_MAKES.fullmatch(name) for name in names):
                    _record(context, module, call)
                elif any(_RUNS.fullmatch(name) for name in names):
                    _record(context, module, call, func.value)


def _record(context: Context, module: Module, call: ast.Call, built: ast.expr | None = None) -> None:
    context.found(NAME)
    what = module.code(call.func).rpartition(".")[2]
    site = context.site(NAME, "build", module, call, f"{what}(...)", strategy="register")
    if built is None:
        record_built(context, module, call, _RECORDER, site, NAME)
    else:
        record_before(context, module, call, built, _RECORDER, site, NAME)


RULE = Rule(name=NAME, title="tianshou", needles=(b"tianshou",), plan=plan, order=160)
