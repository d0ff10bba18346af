"""Small questions about syntax that several rules ask."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rows import Entry
    from instrument.repo.module import Module

_MEDIA = frozenset(
    "Table Image Video Histogram Html Audio Plotly Object3D Molecule Artifact Text ECharts str wandb_process wandb_table".split()
)
Loop = ast.For | ast.AsyncFor | ast.While


def names_in(node: ast.AST | None) -> set[str]:
    """Every name and attribute that an expression reads."""
    found: set[str] = set()
    for part in ast.walk(node) if node is not None else ():
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
    return found


def around(module: Module, node: ast.AST) -> Iterator[ast.AST]:
    """The nodes that hold one, inside out, up to its function."""
    parent = module.parent(node)
    while parent is not None and not isinstance(
        parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    ):
        yield parent
        parent = module.parent(parent)


def loops(module: Module, node: ast.AST) -> list[Loop]:
    """The loops whose body a node is in, inside out."""
    found, child = [], node
    for parent in around(module, node):
        if isinstance(parent, (ast.For, ast.AsyncFor, ast.While)) and any(child is s for s in parent.body):
            found.append(parent)
        child = parent
    return found


def stored_in(node: ast.AST) -> set[str]:
    """Names and attributes that a piece of code gives a value: assigned, counted up, bound by a loop."""
    found: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
        elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            found.add(part.attr)
    return found


def is_zero(node: ast.AST | None) -> bool:
    """`0`, `0.0`."""
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 0


def called(node: ast.AST) -> str:
    """The last part of what a call calls."""
    if not isinstance(node, ast.Call):
        return ""
    func = node.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def local_values(module: Module, name: ast.Name) -> list[ast.expr]:
    """The expressions that a local name is bound to, where it is bound by plain assignments alone."""
    found = module.lookup(module.scope_of(name, inner=False), name.id)
    if found is None or (found[0].kind == "module" and module.function(name) is not None):
        return []
    bound = [binding for binding in found[1] if binding.kind != "annotation"]
    if any(binding.kind != "value" or binding.steps for binding in bound):
        return []
    return [binding.node for binding in bound if isinstance(binding.node, ast.expr)]


def is_media(context: AuditContext, entry: Entry) -> bool:
    """Whether an item is a text, a table, a picture or the like, or a list of such: no curve."""
    from instrument.trackers import wandb

    value = entry.value
    if value is None:
        return False
    if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and not _number(value)):
        return True
    values = [value, *(local_values(entry.module, value) if isinstance(value, ast.Name) else ())]
    if any(_shows(part) for one in values for part in ast.walk(one)):
        return True
    try:
        return wandb.is_media(context.plan, entry.module, value)
    except (AttributeError, ValueError):
        return False


def _shows(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called(node) in _MEDIA


def _number(value: ast.Constant) -> bool:
    return type(value.value) in (int, float, bool)
