"""torchtitan, used as a package: what a trainer's metrics processor logs.

Read in torchtitan 0.3.0: `trainer.metrics_processor.logger` is a container of W&B's and TensorBoard's loggers on the rank
that logs (of a pipeline the first rank of the last stage, not 0), and a logger that does nothing elsewhere or where both are
off: Probe follows their flags. In a fork the container's loggers are in the repository, and are mirrored there.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._callbacks import own_source
from instrument.shapes._recorded import Recorder, record_before

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "torchtitan"
_RECORDER = Recorder(
    rule=NAME, title="torchtitan", base="trainer",
    why="what the metrics processor logs goes to Probe, on the rank that logs",
)  # fmt: skip
_TRAINER = re.compile(r"torchtitan\.(?:\w+\.)*\w*Trainer\(\)")


def plan(context: Context) -> None:
    """Have every trainer recorded that trains."""
    for module in context.modules(b"torchtitan", also=(b".train(",)):
        if own_source(context, module, NAME):
            continue
        for call in module.calls():
            func = call.func
            if isinstance(func, ast.Attribute) and func.attr == "train":
                if any(_TRAINER.fullmatch(name) for name in context.program.resolve(module, func.value)):
                    context.found(NAME)
                    site = context.site(NAME, "build", module, call, f"{module.code(func)}(...)", strategy="register")
                    record_before(context, module, call, func.value, _RECORDER, site, NAME)


RULE = Rule(name=NAME, title="torchtitan", needles=(b"torchtitan",), plan=plan, order=160)
