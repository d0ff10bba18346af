"""rsl_rl: what a runner logs while it learns, from where the runner is built.

Read in rsl-rl-lib 2.3.3, 3.1.1 and 5.5.1: `learn` opens the writer, on rank 0 alone and only with a `log_dir`; the series
go through its `add_scalar` at the iteration. The writer is the runner's own until 3 and its logger's from 4 on. W&B and
Neptune are writers of installed code, so that nothing of them is mirrored elsewhere. The two series
`Train/.../time`, which W&B is not given, are at seconds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._building import class_calls
from instrument.shapes._callbacks import own_source
from instrument.shapes._recorded import Recorder, record_built

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "rsl_rl"
_RECORDER = Recorder(
    rule=NAME, title="rsl_rl", base="runner",
    why="what the runner logs goes to Probe, in a run for each `learn`",
)  # fmt: skip
_RUNNER = re.compile(r"rsl_rl\.runners\.(?:\w+\.)*\w*Runner")


def plan(context: Context) -> None:
    """Have every runner recorded that may learn."""
    for module in context.modules(b"rsl_rl", also=(b"Runner",)):
        data = module.source.data
        if own_source(context, module, NAME) or (b"inference" in data and b".learn(" not in data):
            continue
        for call in class_calls(module):
            if any(_RUNNER.fullmatch(name) for name in context.program.resolve(module, call.func)):
                context.found(NAME)
                site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register")
                record_built(context, module, call, _RECORDER, site, NAME)


RULE = Rule(name=NAME, title="rsl_rl", needles=(b"rsl_rl",), plan=plan, order=160)
