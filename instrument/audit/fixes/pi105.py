"""PI105: where nothing was measured the key is left out of the row, instead of a zero put into it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from instrument.audit.fixes import Fix, Fixed
from instrument.audit.fixes._edits import Writer, entry_of, left_out, up
from instrument.audit.fixes._pinned import pinned
from instrument.audit.fixes._properties import Properties
from instrument.plan.bind import effect_free
from instrument.plan.edits import Applicability
from instrument.plan.place import indent_of, indent_unit, one_line_suite

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rule import Finding
    from instrument.repo.module import Module

_WHY = "left out where nothing was measured, instead of a zero"


def _make(context: AuditContext, findings: Sequence[Finding]) -> Iterator[tuple[Finding, Fixed | str]]:
    properties = Properties(context)
    for finding in findings:
        module, node, kind = finding.module, finding.node, finding.facts.get("kind")
        held = pinned(context, module.function(node)) if module is not None and node is not None else ""
        if held:
            yield finding, f"a test holds this function to its zero ({held}): change both by hand"
            continue
        if module is not None and isinstance(node, ast.expr) and kind == "property":
            yield finding, properties.fix(module, node)
            continue
        if module is not None and isinstance(node, ast.AugAssign):
            yield finding, properties.counted(module, node, findings)
            continue
        if module is not None and isinstance(node, ast.expr) and kind == "branch":
            yield finding, _branch(module, node)
            continue
        if kind == "none":
            yield finding, "whether a missing value is left out of the mean or counts as zero is a person's to say"
            continue
        split = _split(module, node) if module is not None and node is not None else None
        if module is None or split is None:
            yield finding, "the zero is given in a way that is not followed: leave the key out by hand"
        else:
            yield finding, _fix(context, module, *split)


def _branch(module: Module, zero: ast.expr) -> Fixed | str:
    """`else: row["k"] = 0`: the branch goes, where it does nothing else."""
    stmt = module.statement(zero)
    holder = module.parent(stmt)
    if not isinstance(holder, ast.If) or holder.orelse != [stmt]:
        return "the branch does more than that: leave the key out by hand"
    text = module.source.text
    start = module.source.line_end(module.source.line_of(module.end(holder.body[-1])))
    end = module.end(stmt)
    line = text[end : module.source.line_end(module.source.line_of(end))]
    if line.strip() or text[start:end].strip()[:4] != "else" or "#" in text[start : module.start(stmt)]:
        return "the branch is written in a way that is not followed: leave the key out by hand"
    writer = Writer("PI105", module, zero, "review")
    writer.span(start, end, "", _WHY)
    return Fixed(edits=tuple(writer.edits), applicability="review")


def _is_zero(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value == 0


def _split(module: Module, node: ast.AST) -> tuple[ast.expr, str, str] | None:
    """The expression that invents a zero, its condition and its value else; found at a node, in it or around it."""
    for part in (*ast.walk(node), *up(module, node)):
        if isinstance(part, ast.IfExp) and _is_zero(part.orelse):
            return part, module.code(part.test), module.code(part.body)
        if isinstance(part, ast.IfExp) and _is_zero(part.body):
            return part, f"not {_enclosed(module, part.test)}", module.code(part.orelse)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "get":
            given = part.args
            if len(given) == 2 and not part.keywords and _is_zero(given[1]):
                if effect_free(part.func.value) and effect_free(given[0]):
                    held, key = module.code(part.func.value), module.code(given[0])
                    return part, f"{key} in {held}", f"{held}[{key}]"
        if isinstance(part, ast.stmt) and part is not node:
            return None
    return None


def _enclosed(module: Module, node: ast.expr) -> str:
    plain = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
    return module.code(node) if plain else f"({module.code(node)})"


def _fix(context: AuditContext, module: Module, zero: ast.expr, test: str, value: str) -> Fixed | str:
    whole, around = _whole(module, zero)
    value = around[0] + value + around[1]
    entry = entry_of(module, whole)
    writer = Writer("PI105", module, zero, "review")
    if entry is not None:
        row, index = entry
        key = row.keys[index]
        if key is None or whole is not row.values[index]:
            return "the zero is given in a way that is not followed: leave the key out by hand"
        writer.applicability = _sure(context, module, row, whole is zero)
        text = left_out(module, module.start(key), module.code(key), value, test)
        writer.span(module.start(key), _closed(module, key, whole), text, _WHY)
        return Fixed(edits=tuple(writer.edits), applicability=writer.applicability)
    stmt = module.parent(whole)
    if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and stmt.value is whole:
        target = stmt.targets[0]
        if isinstance(target, ast.Subscript) and not one_line_suite(module, stmt) and _alone(module, stmt):
            inner = indent_of(module, stmt) + indent_unit(module)
            text = f"if {test}:{module.source.newline}{inner}{module.code(target)} = {value}"
            writer.span(module.start(stmt), module.end(stmt), text, _WHY)
            return Fixed(edits=tuple(writer.edits), applicability="review")
        if isinstance(target, ast.Name) and whole is zero:
            return _through_name(context, module, stmt, target.id, test, value, writer)
    if isinstance(stmt, ast.Return):
        return "the function gives the zero to more than this row: let it give None, and leave the key out where it is logged"
    return "the zero is part of a larger expression: leave the key out by hand"


def _whole(module: Module, zero: ast.expr) -> tuple[ast.expr, tuple[str, str]]:
    """The expression that the zero is handed on in unchanged or rounded (`round(x, 2)`, `float(x)`), and its text around."""
    whole: ast.expr = zero
    parent = module.parent(zero)
    while isinstance(parent, ast.Call) and parent.args and parent.args[0] is whole:
        if not (isinstance(parent.func, ast.Name) and parent.func.id in ("round", "float")):
            break
        whole, parent = parent, module.parent(parent)
    start, end = module.start(whole), module.end(whole)
    text = module.source.text
    return whole, (text[start : module.start(zero)], text[module.end(zero) : end])


def _closed(module: Module, key: ast.expr, value: ast.expr) -> int:
    """The end of an entry, with the brackets that its value stands in."""
    text, end = module.source.text, module.end(value)
    opened = text[module.end(key) : module.start(value)].count("(")
    while opened:
        end = text.index(")", end) + 1
        opened -= 1
    return end


def _alone(module: Module, stmt: ast.stmt) -> bool:
    """Whether a statement has its lines to itself."""
    source = module.source
    start, end = module.start(stmt), module.end(stmt)
    before = source.text[source.line_start(source.line_of(start)) : start]
    after = source.text[end : source.line_end(source.line_of(end))]
    return not before.strip() and not after.strip().startswith(";")


def _sure(context: AuditContext, module: Module, row: ast.Dict, plain: bool) -> Applicability:
    """Safe where the row goes straight to a tracker: nobody else reads the key."""
    return "safe" if plain and any(sink.row is row and sink.exact for sink in context.sinks) else "review"


def _through_name(
    context: AuditContext, module: Module, stmt: ast.Assign, name: str, test: str, value: str, writer: Writer
) -> Fixed | str:
    """`rate = a / b if b else 0.0` and, later, `{"rate": rate}`: None where there is none, and the key left out."""
    scope = module.scope_of(stmt, inner=False)
    bound = scope.names.get(name, [])
    uses = [
        node for node in ast.walk(scope.node)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]  # fmt: skip
    if len(bound) != 1 or not uses:
        return "the name has other values too: leave the key out by hand"
    sure: Applicability = "safe"
    writer.replace(stmt.value, f"{value} if {test} else None", _WHY)
    for use in uses:
        whole, around = _whole(module, use)
        entry = entry_of(module, whole)
        key = entry[0].keys[entry[1]] if entry else None
        if entry is None or key is None or entry[0].values[entry[1]] is not whole:
            return f"«{name}» is used for more than this row: leave the key out by hand"
        if module.scope_of(use, inner=False) is not scope or _sure(context, module, entry[0], True) == "review":
            sure = "review"
        named = f"{around[0]}{name}{around[1]}"
        text = left_out(module, module.start(key), module.code(key), named, f"{name} is not None")
        writer.span(module.start(key), _closed(module, key, whole), text, _WHY)
    edits = tuple(replace(edit, applicability=sure) for edit in writer.edits)
    return Fixed(edits=edits, applicability=sure)


def make(context: AuditContext, findings: Sequence[Finding]) -> Iterable[tuple[Finding, Fixed | str]]:
    return list(_make(context, findings))


FIX = Fix(code="PI105", make=make)
