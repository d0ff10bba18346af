"""Keras: a callback in `model.fit`, for `keras` 2 and 3 and for `tensorflow.keras`.

Read in keras 3.15.1: `fit` calls each callback once an epoch with what History and the progress bar get, in the process
that runs `fit`; `callbacks=` may be None, one callback or a list. WandbCallback, WandbMetricsLogger and TensorBoard log
through no call that could be mirrored, so beside them the callback is what brings the metrics to Probe, once.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from instrument.plan.place import argument
from instrument.plan.rules import Rule
from instrument.shapes._callbacks import Door, add_callback, own_source

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "keras"
_KERAS = r"(?:tensorflow\.(?:compat\.v[12]\.|python\.)?keras|tf_keras|keras)"
_DOOR = Door(
    rule=NAME,
    title="Keras",
    callback="ProbeKerasCallback",
    part="keras",
    position=5,
    one=rf"{_KERAS}\.callbacks\.(?:\w+\.)*(?!CallbackList)\w+\(\)",
    why="ProbeKerasCallback gets each epoch's logs, in a run for each fit",
)
#: A model: a class of `keras` or `keras.models`, an application, or one that was loaded or copied.
_MODEL = re.compile(
    rf"{_KERAS}\.(?:(?:\w+\.)*(?:Sequential|Model|Functional)"
    rf"|applications\.(?:\w+\.)*[A-Z]\w*|(?:models|saving)\.(?:\w+\.)*(?:load_model|clone_model|model_from_json))\(\)"
)
#: Arguments that only a neural network's `fit` has.
_EPOCHS = frozenset({"epochs"})
_SECOND = frozenset(
    "validation_data batch_size callbacks verbose steps_per_epoch validation_split validation_steps".split()
)


def plan(context: Context) -> None:
    """Add the callback to every `fit` of a Keras model."""
    for module in context.modules(b"keras", also=(b".fit(", b".fit_generator(")):
        if own_source(context, module, "keras", "tf_keras", "tensorflow"):
            continue
        for call in module.calls():
            if isinstance(call.func, ast.Attribute) and call.func.attr in ("fit", "fit_generator"):
                if _is_model(context, module, call, call.func.value):
                    context.found(NAME)
                    site = context.site(
                        NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register"
                    )
                    add_callback(context, module, call, _door(call), site, _beside(module))


def _door(call: ast.Call) -> Door:
    if isinstance(call.func, ast.Attribute) and call.func.attr == "fit":
        return _DOOR
    return replace(_DOOR, position=4)  # fit_generator(generator, steps_per_epoch, epochs, verbose, callbacks)


def _is_model(context: Context, module: Module, call: ast.Call, receiver: ast.expr) -> bool:
    names = context.program.resolve(module, receiver)
    if names:
        return any(_MODEL.fullmatch(name) for name in names)
    # Where the model comes from can't be seen: `epochs=` and another such argument, in a file that compiles it.
    given = {keyword.arg for keyword in call.keywords}
    if not (_EPOCHS & given and _SECOND & given) or not _imports_keras(module):
        return False
    return f"{module.code(receiver)}.compile(" in module.source.text or _gives_callbacks(context, module, call)


def _gives_callbacks(context: Context, module: Module, call: ast.Call) -> bool:
    given = argument(call, None, "callbacks")
    items = given.elts if isinstance(given, ast.List) else [given] if given is not None else []
    return any(
        re.fullmatch(rf"{_KERAS}\.callbacks(?:\.\w+)*\(\)", name)
        for item in items
        for name in context.program.resolve(module, item)
    )


def _imports_keras(module: Module) -> bool:
    return bool(re.search(rf"^\s*(?:from|import)\s+(?:{_KERAS}|tensorflow)\b", module.source.text, re.MULTILINE))


def _beside(module: Module) -> str:
    data = module.source.data
    for package in ("tf_keras", "keras"):
        if re.search(rb"^\s*(?:from|import)\s+" + package.encode() + rb"\b", data, re.MULTILINE):
            return package
    return "tensorflow"


RULE = Rule(name=NAME, title="Keras", needles=(b"keras",), plan=plan, order=160)
