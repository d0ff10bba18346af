"""Metrics that two trackers are sent: Probe gets each once.

What a tracker's call sends is compared with what is mirrored already in the same file, by the keys where these are
written out, else by the text of the row. A call is left where the other one has always run before it; two trackers that
stand in branches of their own are alternatives, and both are mirrored.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.emission import Emission, Tracker
    from instrument.repo.names import Module


@dataclass(frozen=True, slots=True)
class Row:
    """What one mirrored call sends."""

    rule: str
    title: str
    module: Module
    node: ast.AST
    #: The keys, where all of them are written out.
    keys: frozenset[str] | None
    text: str


def row_of(tracker: Tracker, module: Module, node: ast.AST, emission: Emission) -> Row:
    """What a call sends, as Probe would get it."""
    text = emission.text([module.code(used.expr) for used in emission.uses])
    try:
        call = ast.parse(f"f({text}\n)", mode="eval").body
    except SyntaxError:
        return Row(tracker.name, tracker.title, module, node, None, text)
    row = call.args[0] if isinstance(call, ast.Call) and call.args else call
    keys = _keys(row)
    if keys is None and emission.uses and isinstance(emission.uses[0].expr, ast.Name) and isinstance(row, ast.Name):
        keys = _keys_of_name(module, emission.uses[0].expr)
    return Row(tracker.name, tracker.title, module, node, keys, ast.unparse(row))


def sent_before(context: Context, row: Row) -> str | None:
    """Why a row is not sent again, if it is another tracker's already."""
    for other in context.sent.get(row.module.path, ()):
        if other.rule == row.rule or not dominates(row.module, other.node, row.node):
            continue
        if other.text == row.text or (row.keys is not None and other.keys is not None and row.keys <= other.keys):
            return f"{other.title} is sent the same in the same place, and that is mirrored"
    return None


def sent_anywhere(context: Context, row: Row) -> str | None:
    """The same for a tracker that gives way to any other in its file, unless its keys are seen to be its own."""
    others = [other for other in context.sent.get(row.module.path, ()) if other.rule != row.rule]
    for other in others:
        if row.keys is None or other.keys is None or row.keys & other.keys:
            return f"the file sends its metrics to {other.rule} too, and that is mirrored"
    return None


def sent_by_callers(context: Context, module: Module, node: ast.AST) -> str | None:
    """Why what a writer's own `add_scalar` sends on is left: whoever calls it is mirrored, with the same values.

    A `SummaryWriter` of the repository's own that also sends to another tracker (rsl_rl 2 to 5) is called as any writer
    is; Probe stands beside those calls whichever writer they get, and would have each value twice.
    """
    function, owner = module.function(node), module.enclosing_class(node)
    if owner is None or not isinstance(function, ast.FunctionDef) or function.name not in ("add_scalar", "add_scalars"):
        return None
    names = {name for base in owner.bases for name in context.program.resolve(module, base)}
    if not any(name.endswith(".SummaryWriter") for name in names):
        return None
    for caller in context.modules(b".add_scalar"):
        for call in caller.calls():
            if (
                isinstance(call.func, ast.Attribute)
                and call.func.attr == function.name
                and not (caller is module and caller.enclosing_class(call) is owner)
                and any(
                    f"SummaryWriter().{function.name}" in name for name in context.program.resolve(caller, call.func)
                )
            ):
                return f"the calls of {owner.name}.{function.name} are mirrored"
    return None


def remember(context: Context, row: Row) -> None:
    """Note a row that reaches Probe."""
    context.sent.setdefault(row.module.path, []).append(row)


def _keys(row: ast.expr) -> frozenset[str] | None:
    if isinstance(row, ast.Call) and isinstance(row.func, ast.Name) and row.func.id == "dict" and not row.args:
        return frozenset(k.arg for k in row.keywords if k.arg) if all(k.arg for k in row.keywords) else None
    if not isinstance(row, ast.Dict):
        return None
    keys = [key.value for key in row.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return frozenset(keys) if len(keys) == len(row.keys) else None


def _keys_of_name(module: Module, name: ast.Name) -> frozenset[str] | None:
    """The keys of a mapping that is filled in its own function by keys that are written out."""
    found = module.lookup(module.scope_of(name, inner=False), name.id)
    if found is None:
        return None
    keys: set[str] = set()
    for binding in found[1]:
        if binding.kind == "value" and not binding.steps:
            more = _keys(binding.node) if isinstance(binding.node, ast.expr) else None
            if more is None:
                return None
            keys |= more
        elif binding.kind == "item" and isinstance(binding.key, ast.Constant):
            keys.add(str(binding.key.value))
        else:
            return None
    return frozenset(keys)


# -- what has run before


def dominates(module: Module, first: ast.AST, second: ast.AST) -> bool:
    """Whether one node has run whenever another one does: earlier, in the same function, under no condition of its own."""
    if module.start(first) >= module.start(second) or module.function(first) is not module.function(second):
        return False
    around = {id(block) for block in _blocks(module, second)}
    return all(id(block) in around for block in _blocks(module, first))


def exclusive(module: Module, first: ast.AST, second: ast.AST) -> bool:
    """Whether two nodes are in different branches of one `if` or `match`."""
    around = {id(owner): id(block) for block, owner in _owned(module, first)}
    return any(
        id(owner) in around and around[id(owner)] != id(block) and isinstance(owner, (ast.If, ast.Match))
        for block, owner in _owned(module, second)
    )


def _blocks(module: Module, node: ast.AST) -> list[list[ast.stmt]]:
    """The suites that a node may be skipped with, up to its function: those of `if`, loops, `except` and the like."""
    return [block for block, owner in _owned(module, node) if not isinstance(owner, (ast.With, ast.AsyncWith))]


def _owned(module: Module, node: ast.AST) -> list[tuple[list[ast.stmt], ast.AST]]:
    found: list[tuple[list[ast.stmt], ast.AST]] = []
    function = module.function(node)
    stmt = module.statement(node)
    while True:
        parent = module.parent(stmt)
        if parent is None or parent is function or isinstance(parent, (ast.Module, ast.ClassDef)):
            return found
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and any(part is stmt for part in block):
                found.append((block, _holder(module, parent)))
        stmt = module.statement(parent)


def _holder(module: Module, node: ast.AST) -> ast.AST:
    """The statement that a suite belongs to; of a `case` or a handler that which holds it."""
    if isinstance(node, (ast.match_case, ast.ExceptHandler)):
        return module.parent(node) or node
    return node
