"""tianshou: its loggers, where they are built, and the experiments of its high-level interface.

Read in tianshou 0.5.1, 1.2.0 and 2.0.1: trainers hand each row to `logger.write(step_type, step, data)`, at environment
steps, update steps or epochs; the keys of TensorBoard get their scope in front of it from 1.0 on. WandbLogger opens W&B
with `sync_tensorboard`, so that nothing of it is mirrored elsewhere. An experiment makes its logger when it runs.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._building import class_calls
from instrument.shapes._callbacks import own_source
from instrument.shapes._recorded import Recorder, record_built

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "tianshou"
_RECORDER = Recorder(
    rule=NAME, title="tianshou", base="logger",
    why="what the logger writes goes to Probe, at the trainer's own steps",
)  # fmt: skip
_LOGGER = re.compile(r"tianshou\.utils\.(?:\w+\.)*(?:TensorboardLogger|WandbLogger|BasicLogger|BaseLogger)")
_EXPERIMENT = re.compile(r"tianshou\.highlevel\.(?:\w+\.)*\w+ExperimentBuilder\(\)(?:\.\w+\(\))*\.build")


def plan(context: Context) -> None:
    """Have every logger recorded."""
    for module in context.modules(b"tianshou", also=(b"Logger(", b"ExperimentBuilder")):
        if own_source(context, module, NAME):
            continue
        for call in class_calls(module):
            if any(_LOGGER.fullmatch(name) for name in context.program.resolve(module, call.func)):
                _record(context, module, call)
        for call in module.calls():
            if isinstance(call.func, ast.Attribute) and call.func.attr == "build":
                if any(_EXPERIMENT.fullmatch(name) for name in context.program.resolve(module, call.func)):
                    _record(context, module, call)


def _record(context: Context, module: Module, call: ast.Call) -> None:
    context.found(NAME)
    what = module.code(call.func).rpartition(".")[2]
    site = context.site(NAME, "build", module, call, f"{what}(...)", strategy="register")
    record_built(context, module, call, _RECORDER, site, NAME)


RULE = Rule(name=NAME, title="tianshou", needles=(b"tianshou",), plan=plan, order=160)
