"""CatBoost: a callback in `fit` and `train`, where there is a set to evaluate and the training stays on the CPU.

Read in catboost 1.2.10: a callback has `after_iteration(info)` alone; with `task_type="GPU"` user callbacks raise, so
that a file which names a task type, or hands its settings on from elsewhere, is asked about.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan.place import argument
from instrument.plan.rules import Rule
from instrument.shapes._building import ask, class_calls
from instrument.shapes._callbacks import Door, add_callback, own_source

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "catboost"
_DOOR = Door(
    rule=NAME,
    title="CatBoost",
    callback="ProbeCatBoostCallback",
    part=NAME,
    why="ProbeCatBoostCallback gets each iteration's metrics, in a run for each training",
)
_CLASS = r"catboost\.(?:core\.)?CatBoost(?:Classifier|Regressor|Ranker)?"
_FIT = re.compile(rf"{_CLASS}\(\)\.fit")
_TRAIN = frozenset({"catboost.train", "catboost.core.train"})


def plan(context: Context) -> None:
    """Add the callback wherever a model is trained with evaluations."""
    for module in context.modules(b"catboost", also=(b".fit(", b"train(")):
        if own_source(context, module, NAME):
            continue
        for call in module.calls():
            func = call.func
            last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            if last not in ("fit", "train"):
                continue
            names = context.program.resolve(module, func)
            if not (names & _TRAIN or any(_FIT.fullmatch(name) for name in names)):
                continue
            evaluated = argument(call, None, "eval_set", "evals")
            if evaluated is None or (isinstance(evaluated, ast.Constant) and evaluated.value is None):
                continue
            context.found(NAME)
            site = context.site(NAME, "build", module, call, f"{module.code(func)}(...)", strategy="register")
            if _DOOR.callback not in module.code(call) and _may_be_on_a_gpu(context, module):
                ask(
                    context, site, "callback-by-hand",
                    f"{site.what}: CatBoost raises where it gets a callback on a GPU, and whether it trains on one is "
                    "not seen here",
                    "where it trains on the CPU, give it callbacks=[ProbeCatBoostCallback()] of probe_tracking",
                )  # fmt: skip
                continue
            add_callback(context, module, call, _DOOR, site, NAME)


def _may_be_on_a_gpu(context: Context, module: Module) -> bool:
    """Whether a model of the file is given a task type other than "CPU", or settings that can't be read."""
    for call in class_calls(module):
        if not any(re.fullmatch(_CLASS, name) for name in context.program.resolve(module, call.func)):
            continue
        given = argument(call, None, "task_type")
        if given is None and not call.args and all(keyword.arg for keyword in call.keywords):
            continue
        if isinstance(given, ast.Constant) and given.value == "CPU":
            continue
        settings = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg is None)]
        if given is None and all(isinstance(one, ast.Dict) for one in settings):
            if b"task_type" not in module.source.data:
                continue
        return True
    return False


RULE = Rule(name=NAME, title="CatBoost", needles=(b"catboost",), plan=plan, order=160)
