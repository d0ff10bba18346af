"""H1: a tracker kept in an attribute (`self._wandb`) that every use is guarded by, often exclusive with another one.

Probe's calls stand before those guards, not inside: with W&B off, or TensorBoard in its place, they go on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.bind import effect_free
from instrument.shapes._signatures import calls_in

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module


def openings(context: Context, module: Module) -> Iterator[tuple[ast.If, ast.Call]]:
    """`if <flag> and <rank guard>: ... wandb.init(...)`, the whole statement and the call."""
    for call in module.calls():
        if "wandb.init" in context.program.resolve(module, call.func):
            outer = module.parent(module.statement(call))
            if isinstance(outer, ast.If) and not outer.orelse:
                yield outer, call


def rank_guard(module: Module, test: ast.expr) -> str:
    """The part of a condition that says which process logs, without the tracker's own switch."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return " and ".join(module.code(part) for part in parts if "rank" in module.code(part))


def above_guards(module: Module, stmt: ast.stmt, handle: str) -> ast.stmt:
    """The outermost statement around one that is there for a handle: `if self._wandb is not None: ... elif ...`."""
    current: ast.stmt = stmt
    while True:
        parent = module.parent(current)
        if not isinstance(parent, ast.If):
            return current
        inside_elif = current in parent.orelse and len(parent.orelse) == 1 and isinstance(current, ast.If)
        if not inside_elif and handle not in module.code(parent.test):
            return current
        current = parent


def opened(call: ast.Call, module: Module) -> tuple[str | None, str | None]:
    """The name and config that a tracker is opened with, where they may be written again; the config as an object."""
    name, config = place.argument(call, None, "name"), place.argument(call, None, "config")
    if isinstance(config, ast.Attribute) and config.attr == "__dict__":
        config = config.value
    elif isinstance(config, ast.Call) and module.code(config.func) == "vars" and len(config.args) == 1:
        config = config.args[0]
    return (
        module.code(name) if name is not None and effect_free(name) else None,
        module.code(config) if config is not None and effect_free(config) else None,
    )


def rows_by_scalar(module: Module) -> Iterator[tuple[ast.For, str, str, str]]:
    """`for k, v in ROW.items(): writer.add_scalar(f"PREFIX/{k}", v, STEP)`: the loop, ROW, PREFIX and STEP."""
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call):
            continue
        source = node.iter.func
        if not isinstance(source, ast.Attribute) or source.attr != "items" or not effect_free(source.value):
            continue
        for call in calls_in(node):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "add_scalar" and len(call.args) > 2:
                key = call.args[0]
                if isinstance(key, ast.JoinedStr) and isinstance(key.values[0], ast.Constant):
                    prefix = str(key.values[0].value)
                    yield node, module.code(source.value), prefix, module.code(call.args[2])
                    break
