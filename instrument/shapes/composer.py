"""Composer (MosaicML, LLM Foundry): one more logger of the Trainer.

Read in mosaicml 0.32.1: `Trainer(*, ..., loggers=)` takes None, a logger or a sequence; each gets what is logged, with the
batch as its step, on every rank. W&B's logger sends from installed code, so that nothing of it is mirrored elsewhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._building import class_calls
from instrument.shapes._callbacks import Door, add_callback, own_source

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "composer"
_DOOR = Door(
    rule=NAME,
    title="Composer",
    callback="ProbeComposerLogger",
    part=NAME,
    keyword="loggers",
    single=True,
    one=r"composer\.loggers\.(?:\w+\.)*\w+Logger\(\)",
    why="ProbeComposerLogger gets what the Trainer's loggers get, on rank 0",
)
_TRAINER = re.compile(r"composer\.(?:trainer\.)*Trainer")


def plan(context: Context) -> None:
    """Add the logger to every Trainer."""
    for module in context.modules(b"composer", also=(b"Trainer(",)):
        if own_source(context, module, NAME):
            continue
        for call in class_calls(module):
            if any(_TRAINER.fullmatch(name) for name in context.program.resolve(module, call.func)):
                context.found(NAME)
                site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register")
                add_callback(context, module, call, _DOOR, site, NAME)


RULE = Rule(name=NAME, title="Composer", needles=(b"composer",), plan=plan, order=160)
