"""The conditions that a tracker's opening stands under, and whether they are off unless somebody asks."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.repo.tree import walk

if TYPE_CHECKING:
    from instrument.repo.names import Module


def flag_off_by_default(module: Module, node: ast.AST) -> str | None:
    """The flag that a node is guarded by and that is off by default (`wandb_log = False`, `--track`), or None."""
    child, parent = node, module.parent(node)
    while parent is not None:
        if isinstance(parent, ast.If) and any(child is stmt for stmt in parent.body):
            for name in _flags(parent.test):
                if _is_off(module, name):
                    return name
        child, parent = parent, module.parent(parent)
    return None


def _flags(test: ast.expr) -> list[str]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return [name for value in test.values for name in _flags(value)]
    if isinstance(test, ast.Name):
        return [test.id]
    return [test.attr] if isinstance(test, ast.Attribute) else []


def _is_off(module: Module, name: str) -> bool:
    """Off by a constant, a class field, or a command-line option that stores true.

    Not the name of a module, which is None where it is missing.
    """
    if any(
        isinstance(node, (ast.Import, ast.ImportFrom)) and any((a.asname or a.name) == name for a in node.names)
        for node in walk(module.tree)
    ):
        return False
    for node in walk(module.tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Name) and t.id == name for t in targets):
                return isinstance(node.value, ast.Constant) and not node.value.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            option = next(
                (a.value for a in node.args if isinstance(a, ast.Constant) and str(a.value).startswith("--")), ""
            )
            if re.sub(r"\W", "_", str(option).lstrip("-")) != name:
                continue
            given = {k.arg: k.value for k in node.keywords}
            action, default = given.get("action"), given.get("default")
            if isinstance(default, ast.Constant):
                return not default.value
            return isinstance(action, ast.Constant) and action.value == "store_true"
    return False
