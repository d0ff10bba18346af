"""The axes that a repository declares with `define_metric`, and which of them a key plots against."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instrument.audit.keys import WILD
from instrument.plan.place import argument

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.module import Module

#: Last parts of keys that count something: an axis rather than a curve.
COUNTER = re.compile(
    r"(?:\w+_)?(?:steps?|iters?|iterations?|epochs?|episodes?|updates?|rollout_id|batch_idx|timestamp|n_?samples|samples_seen)"
)
_CURVE = re.compile(r"per_|time|loss|reward|second|mfu|(?:^|_)(?:in|mean|avg|num|max|min|std)_")


def is_counter(key: str) -> bool:
    """Whether a key is named as a counter."""
    last = re.split(r"[/.]", key.lower())[-1]
    return bool(COUNTER.fullmatch(last)) and not _CURVE.search(last)


@dataclass(frozen=True, eq=False)
class Declared:
    """One call of `define_metric`: what it may name, and the axis it may name for that (empty: none)."""

    module: Module
    call: ast.Call
    name: ast.expr
    axis: ast.expr | None
    names: tuple[str, ...]
    axes: tuple[str, ...]
    step_sync: bool


def declared(context: AuditContext) -> list[Declared]:
    """Every `define_metric` whose arguments can be seen."""
    found = []
    for module in context.modules(b"define_metric"):
        for call in module.calls():
            func = call.func
            if not isinstance(func, ast.Attribute) or func.attr != "define_metric":
                continue
            name, axis = argument(call, 0, "name"), argument(call, 1, "step_metric")
            if name is None or any(k.arg is None for k in call.keywords) or _passed_on(module, call, name):
                continue
            if axis is not None and isinstance(axis, ast.Constant) and axis.value is None:
                axis = None
            synced = argument(call, None, "step_sync")
            found.append(
                Declared(
                    module,
                    call,
                    name,
                    axis,
                    tuple(context.keys.texts(module, name)),
                    tuple(context.keys.texts(module, axis)) if axis is not None else (),
                    isinstance(synced, ast.Constant) and synced.value is True,
                )
            )
    return found


def _passed_on(module: Module, call: ast.Call, name: ast.expr) -> bool:
    """Whether the call stands in a method of that name, and hands on what it is given."""
    function = module.function(call)
    return isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)) and function.name == "define_metric"


def axis_of(key: str, axes: list[Declared]) -> Declared | None:
    """The declaration that holds for a key: its own name before a glob, a longer glob before a shorter one."""
    best: tuple[int, Declared] | None = None
    for one in axes:
        for name in one.names if one.axis is not None else ():
            if name == key:
                return one
            if name.endswith("*") and WILD not in name and key.startswith(name[:-1]):
                if best is None or len(name) > best[0]:
                    best = (len(name), one)
    return best[1] if best else None
