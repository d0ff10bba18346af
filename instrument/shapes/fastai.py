"""fastai 2: a callback in the `cbs=` of a Learner, which records what the Recorder has of each epoch.

Read in fastai 2.8.12: `Learner(..., cbs=)` takes None, a callback or a list, and every `*_learner` function hands it on;
`fit` calls its callbacks by `order` (the Recorder is 50). `fine_tune` fits twice: two runs. `lr_find` is no training.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._callbacks import Door, add_callback, own_source

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "fastai"
_DOOR = Door(
    rule=NAME,
    title="fastai",
    callback="ProbeFastaiCallback",
    part=NAME,
    keyword="cbs",
    single=True,
    one=r"fastai\.callback\.(?:\w+\.)*\w+\(\)",
    why="ProbeFastaiCallback gets what the Recorder has of each epoch, in a run for each fit",
)
#: Names from star imports resolve to what `fastai.vision.all` and its kin are known to have, or to their module alone.
_LEARNERS = (
    "Learner", "TabularLearner", "TextLearner", "vision_learner", "cnn_learner", "unet_learner", "tabular_learner",
    "text_classifier_learner", "language_model_learner", "collab_learner",
)  # fmt: skip
_LEARNER = re.compile(rf"fastai(?:\.\w+)*\.(?:{'|'.join(_LEARNERS)})")
_STAR = re.compile(rb"^from[ \t]+fastai(?:\.\w+)+[ \t]+import[ \t]+\*", re.MULTILINE)


def plan(context: Context) -> None:
    """Add the callback to every Learner."""
    for module in context.modules(b"fastai", also=(b"earner(",)):
        if own_source(context, module, NAME):
            continue
        star = bool(_STAR.search(module.source.data))
        for call in module.calls():
            what = module.code(call.func)
            if what.rpartition(".")[2] not in _LEARNERS:
                continue
            names = context.program.resolve(module, call.func)
            if not any(_LEARNER.fullmatch(name) for name in names) and not (star and not names and "." not in what):
                continue
            context.found(NAME)
            site = context.site(NAME, "build", module, call, f"{what}(...)", strategy="register")
            add_callback(context, module, call, _DOOR, site, NAME)


RULE = Rule(name=NAME, title="fastai", needles=(b"fastai",), plan=plan, order=160)
