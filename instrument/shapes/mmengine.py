"""MMEngine (MMDetection, MMSegmentation and their kin): what the Runner's visualizer gets, in a run for each `train`.

Read in mmengine 0.10.7: LoggerHook hands each row to `runner.visualizer.add_scalars`, which the backends of the config get
on the master process; training rows are at iterations, validation rows at epochs where the loop counts those. Runners come
from `Runner(...)`, `Runner.from_cfg(cfg)` and `RUNNERS.build(cfg)`. Backends for W&B and others log from installed code, so
that nothing of them is mirrored elsewhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._callbacks import own_source
from instrument.shapes._recorded import Recorder, record_built

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "mmengine"
_RECORDER = Recorder(
    rule=NAME, title="MMEngine", base="runner",
    why="what the visualizer gets goes to Probe, in a run for each `train`",
)  # fmt: skip
_RUNNER = re.compile(
    r"mmengine\.runner\.(?:\w+\.)*(?:Flexible)?Runner(?:\.from_cfg)?|mmengine\.(?:registry\.(?:\w+\.)*)?RUNNERS\.build"
)


def plan(context: Context) -> None:
    """Have every Runner recorded that trains."""
    for module in context.modules(b"mmengine", also=(b"Runner", b"RUNNERS")):
        if own_source(context, module, NAME) or b".train(" not in module.source.data:
            continue
        for call in module.calls():
            what = module.code(call.func)
            if what.rpartition(".")[2] not in ("Runner", "FlexibleRunner", "from_cfg", "build"):
                continue
            if any(_RUNNER.fullmatch(name) for name in context.program.resolve(module, call.func)):
                context.found(NAME)
                site = context.site(NAME, "build", module, call, f"{what}(...)", strategy="register")
                record_built(context, module, call, _RECORDER, site, NAME)


RULE = Rule(name=NAME, title="MMEngine", needles=(b"mmengine",), plan=plan, order=160)
