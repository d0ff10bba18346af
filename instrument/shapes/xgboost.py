"""XGBoost: a callback in `train` and `cv`, and in the scikit-learn estimators that are fitted with an `eval_set`.

Read in xgboost 3.2.0: `train(evals=..., callbacks=...)`; estimators take callbacks where they are built (`fit` took them
until 2.1). A callback that stops the training keeps those behind it from that round: Probe's reads it when training ends.
Without a set to evaluate there is nothing to record, and nothing is added.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan.place import argument
from instrument.plan.rules import Rule
from instrument.shapes._building import class_calls, target_of
from instrument.shapes._callbacks import Door, add_callback, own_source

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "xgboost"
_DOOR = Door(
    rule=NAME,
    title="XGBoost",
    callback="ProbeXGBoostCallback",
    part=NAME,
    why="ProbeXGBoostCallback gets each round's evaluations, in a run for each training",
)
_TRAIN = frozenset({"xgboost.train", "xgboost.training.train"})
_CV = frozenset({"xgboost.cv", "xgboost.training.cv"})
_ESTIMATOR = re.compile(r"xgboost\.(?:sklearn\.)?XGB(?:Classifier|Regressor|Ranker|Model)")


def plan(context: Context) -> None:
    """Add the callback wherever a booster is trained with evaluations."""
    for module in context.modules(b"xgboost", also=(b"train(", b"cv(", b".fit(")):
        if own_source(context, module, NAME):
            continue
        for call in module.calls():
            func = call.func
            last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            if last not in ("train", "cv"):
                continue
            names = context.program.resolve(module, func)
            evaluated = argument(call, 3, "evals") if names & _TRAIN else call if names & _CV else None
            if evaluated is not None and not (isinstance(evaluated, ast.Constant) and evaluated.value is None):
                _wire(context, module, call, argument(call, 0, "params"))
        for call in class_calls(module):
            names = context.program.resolve(module, call.func)
            if any(_ESTIMATOR.fullmatch(name) for name in names) and _evaluated(module, call):
                _wire(context, module, call, None)


def _wire(context: Context, module: Module, call: ast.Call, params: ast.expr | None) -> None:
    context.found(NAME)
    site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register")
    arguments = params.id if isinstance(params, ast.Name) else ""
    add_callback(context, module, call, _DOOR, site, NAME, arguments)


def _evaluated(module: Module, call: ast.Call) -> bool:
    """Whether an estimator that is built here is fitted in this function with an `eval_set`."""
    target = target_of(module, call)
    for other in module.calls():
        func = other.func
        if not isinstance(func, ast.Attribute) or func.attr != "fit" or argument(other, None, "eval_set") is None:
            continue
        if func.value is call:
            return True
        if target is None or module.code(func.value) != target:
            continue
        if "." in target or module.function(other) is module.function(call):
            return True
    return False


RULE = Rule(name=NAME, title="XGBoost", needles=(b"xgboost",), plan=plan, order=160)
