"""LLaMA-Factory, started from code: a callback in `run_exp`.

Read in llamafactory 0.9.5: `run_exp(args=None, callbacks=None)` hands a list of transformers' callbacks on to the Trainer of
every stage. Its command line has no place for one: there `yaml_trainer` says how the curves are imported. In a fork the
Trainers are in the repository, and are instrument's shape `hf_trainer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._building import calls_of
from instrument.shapes._callbacks import Door, add_callback, own_source

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "llamafactory"
_DOOR = Door(
    rule=NAME,
    title="LLaMA-Factory",
    callback="ProbeCallback",
    part="huggingface",
    position=1,
    one=r"(?:llamafactory|transformers)\.(?:\w+\.)*\w+Callback\(\)",
    why="ProbeCallback gets what the Trainer logs, on the process that logs",
)
_RUN = frozenset({"llamafactory.train.tuner.run_exp"})


def plan(context: Context) -> None:
    """Add the callback to every `run_exp`."""
    for module in context.modules(b"llamafactory", also=(b"run_exp(",)):
        if own_source(context, module, NAME):
            continue
        for call in calls_of(context, module, "run_exp", _RUN):
            context.found(NAME)
            site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register")
            add_callback(context, module, call, _DOOR, site, NAME)


RULE = Rule(name=NAME, title="LLaMA-Factory", needles=(b"run_exp",), plan=plan, order=160)
