"""Edits as fixes make them, and small questions about where things stand."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from instrument.plan.edits import Applicability, Edit
from instrument.plan.place import Insertion, indent_of, indent_unit

if TYPE_CHECKING:
    from instrument.repo.module import Module


class Writer:
    """The edits of one fix: they stand or fall together."""

    def __init__(self, code: str, module: Module, node: ast.AST, applicability: Applicability = "safe") -> None:
        self.code = code
        self.module = module
        self.applicability = applicability
        self.group = f"{code}:{module.path}:{module.start(node)}"
        self.edits: list[Edit] = []

    def put(self, place: Insertion | None, reason: str, module: Module | None = None) -> bool:
        """Insert text; False where there is no place for it."""
        if place is None:
            return False
        self._edit(module or self.module, place.offset, place.offset, place.text, reason)
        return True

    def replace(self, node: ast.AST, text: str, reason: str, module: Module | None = None) -> None:
        """Put text in place of an expression or statement."""
        module = module or self.module
        self._edit(module, module.start(node), module.end(node), text, reason)

    def span(self, start: int, end: int, text: str, reason: str, module: Module | None = None) -> None:
        """The same for any span."""
        self._edit(module or self.module, start, end, text, reason)

    def _edit(self, module: Module, start: int, end: int, text: str, reason: str) -> None:
        self.edits.append(
            Edit(
                path=module.path, start=start, end=end, text=text, reason=reason, rule=self.code,
                applicability=self.applicability, group=self.group,
            )
        )  # fmt: skip


def quoted(module: Module, text: str) -> str:
    """A text as a literal in the quotes that the file uses more."""
    body = module.source.text
    mark = "'" if body.count("'") > 2 * body.count('"') else '"'
    if mark in text or "\\" in text:
        return repr(text)
    return f"{mark}{text}{mark}"


def entry_of(module: Module, node: ast.AST) -> tuple[ast.Dict, int] | None:
    """The dict literal that an expression is a value (or key) of, and its position there."""
    parent = module.parent(node)
    if isinstance(parent, ast.Dict):
        for index, (key, value) in enumerate(zip(parent.keys, parent.values)):
            if node is key or node is value:
                return parent, index
    return None


def first_entry(module: Module, row: ast.Dict, text: str) -> Insertion:
    """Where an entry is added at the front of a dict literal, in its layout."""
    start = module.start(row) + 1
    if not row.keys:
        return Insertion(start, text)
    first = row.keys[0] or row.values[0]
    at = module.start(first) if row.keys[0] is not None else module.start(first) - 2
    return Insertion(at, f"{text}, " if module.source.line_of(at) == module.source.line_of(start) else
                     f"{text},{module.source.newline}{_lead(module, at)}")  # fmt: skip


def last_entry(module: Module, row: ast.Dict, text: str) -> Insertion:
    """Where an entry is added at the end of a dict literal, in its layout."""
    if not row.keys:
        return Insertion(module.start(row) + 1, text)
    end, last = module.end(row) - 1, module.end(row.values[-1])
    between = module.source.text[last:end]
    first = row.keys[0] or row.values[0]
    start = module.start(first) - (2 if row.keys[0] is None else 0)
    spread = module.source.line_of(start) != module.source.line_of(module.start(row))
    closed = between.lstrip(" \t)")
    if spread and closed.startswith(","):
        comma = last + between.index(",") + 1
        rest = module.source.line_end(module.source.line_of(comma))
        at = rest if not module.source.text[comma:rest].strip() or "#" in module.source.text[comma:rest] else comma
        return Insertion(at, f"{module.source.newline}{_lead(module, start)}{text},")
    if "," in between and "#" not in between:
        return Insertion(last + between.index(",") + 1, f" {text}")
    closing = len(between) - len(between.lstrip(")"))
    return Insertion(last + closing, f", {text}")


def _lead(module: Module, at: int) -> str:
    line = module.source.text[module.source.line_start(module.source.line_of(at)) : at]
    return line if not line.strip() else " " * len(line)


#: A longer line is broken.
_LONG = 110


def called(module: Module, stmt: ast.Assign | ast.AnnAssign, name: str, arguments: Sequence[str]) -> str:
    """A call that takes the place of a statement's value, its arguments on a line of their own where it would be long."""
    assert stmt.value is not None
    plain = f"{name}({', '.join(arguments)})"
    start = module.start(stmt.value)
    column = start - module.source.line_start(module.source.line_of(start))
    if column + len(plain) <= _LONG:
        return plain
    newline = module.source.newline + indent_of(module, stmt)
    return f"{name}({newline}{indent_unit(module)}{', '.join(arguments)}{newline})"


def left_out(module: Module, at: int, key: str, value: str, test: str) -> str:
    """An entry of a dict literal that is there under a condition."""
    plain = f"**({{{key}: {value}}} if {test} else {{}})"
    start = module.source.line_start(module.source.line_of(at))
    lead = module.source.text[start:at]
    if len(lead) + len(plain) <= _LONG or lead.strip():
        return plain
    newline, unit = module.source.newline + lead, indent_unit(module)
    parts = [f"{{{key}: {value}}}", f"if {test}", "else {}"]
    return f"**({newline}{unit}{f'{newline}{unit}'.join(parts)}{newline})"


def up(module: Module, node: ast.AST) -> Iterator[ast.AST]:
    """A node and all that hold it, inside out."""
    current: ast.AST | None = node
    while current is not None:
        yield current
        current = module.parent(current)


def call_named(module: Module, node: ast.AST, *names: str) -> ast.Call | None:
    """The call of a method or function of one of these names that a node is, is in, or holds."""
    for part in (*up(module, node), *ast.walk(node)):
        if isinstance(part, ast.Call):
            func = part.func
            if (func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")) in names:
                return part
    return None


def free_name(module: Module, node: ast.AST, wanted: Sequence[str]) -> str:
    """The first of some names that the scopes around a node do not use."""
    used = module.scope_names(node) | module.names
    for name in wanted:
        if name not in used:
            return name
    number = 2
    while f"{wanted[-1]}_{number}" in used:
        number += 1
    return f"{wanted[-1]}_{number}"
