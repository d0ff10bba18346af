"""LightGBM: a callback in `train`, `cv` and in `fit` of its scikit-learn estimators, where there is a set to evaluate.

Read in lightgbm 4.7.0: callbacks are callables, run by their `order` (early stopping is 30) with the evaluations of the
round; none is told of the end. Without a validation set there is nothing to record, and nothing is added.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan.place import argument
from instrument.plan.rules import Rule
from instrument.shapes._callbacks import Door, add_callback, own_source

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "lightgbm"
_DOOR = Door(
    rule=NAME,
    title="LightGBM",
    callback="ProbeLightGBMCallback",
    part=NAME,
    why="ProbeLightGBMCallback gets each round's evaluations, in a run for each training",
)
_TRAIN = frozenset({"lightgbm.train", "lightgbm.engine.train"})
_CV = frozenset({"lightgbm.cv", "lightgbm.engine.cv"})
_FIT = re.compile(r"lightgbm\.(?:sklearn\.)?LGBM(?:Classifier|Regressor|Ranker|Model)\(\)\.fit")


def plan(context: Context) -> None:
    """Add the callback wherever a booster is trained with evaluations."""
    for module in context.modules(b"lightgbm", also=(b"train(", b"cv(", b".fit(")):
        if own_source(context, module, NAME):
            continue
        for call in module.calls():
            func = call.func
            last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            if last not in ("train", "cv", "fit"):
                continue
            names = context.program.resolve(module, func)
            if names & _TRAIN:
                evaluated = argument(call, 3, "valid_sets")
            elif any(_FIT.fullmatch(name) for name in names):
                evaluated = argument(call, None, "eval_set", "eval_X")
            elif not names & _CV:
                continue
            else:
                evaluated = call
            if evaluated is None or (isinstance(evaluated, ast.Constant) and evaluated.value is None):
                continue
            context.found(NAME)
            site = context.site(NAME, "build", module, call, f"{module.code(func)}(...)", strategy="register")
            add_callback(context, module, call, _DOOR, site, NAME)


RULE = Rule(name=NAME, title="LightGBM", needles=(b"lightgbm",), plan=plan, order=160)
