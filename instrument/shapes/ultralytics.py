"""Ultralytics (YOLO, YOLOWorld, YOLOE, RTDETR): callbacks of the model that trains, or of a trainer that is used by itself.

Read in ultralytics 8.4.190, and in 8.0.100 to 8.3.0: `model.callbacks` go to the trainer of each `train`; on several GPUs
they are pickled, by name, for the ranks, where rank 0 records (up to 8.3.0 they are not handed on). Its W&B, TensorBoard and
MLflow callbacks log from installed code, so that nothing of them is mirrored elsewhere. A model that only
predicts is left as it is.
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

NAME = "ultralytics"
_RECORDER = Recorder(
    rule=NAME, title="Ultralytics", base="model",
    why="its callbacks get each epoch's losses, rates and metrics, in a run for each train",
)  # fmt: skip
_MODEL = re.compile(
    r"ultralytics\.(?:\w+\.)*(?:YOLO\w*|RTDETR|\w+Trainer)\(\)(?:\.(?:load|to|cuda|cpu|half|float)\(\))*"
)


def plan(context: Context) -> None:
    """Have every model recorded that is trained."""
    for module in context.modules(b".train(", also=(b"ultralytics",)):
        if own_source(context, module, NAME):
            continue
        for call in module.calls():
            func = call.func
            if not isinstance(func, ast.Attribute) or func.attr != "train":
                continue
            if call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, bool):
                continue  # the mode of a PyTorch module
            if any(_MODEL.fullmatch(name) for name in context.program.resolve(module, func.value)):
                context.found(NAME)
                site = context.site(NAME, "build", module, call, f"{module.code(func)}(...)", strategy="register")
                record_before(context, module, call, func.value, _RECORDER, site, NAME)


RULE = Rule(name=NAME, title="Ultralytics", needles=(b"ultralytics",), plan=plan, order=160)
