"""What an expression can stand for: qualified names, and containers from which other values are taken."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from instrument.repo.module import Module
from instrument.repo.scopes import Binding

#: Marks a qualified name as a definition of the repository itself.
REPO = "repo:"


#: More foreign names than this are no answer.
_MAX_NAMES = 16


@dataclass(frozen=True, slots=True)
class Box:
    """A container, known by the syntax that makes it; its contents are computed when they are asked for.

    kind     what is in it
    literal  a display, comprehension or generator expression `node`
    item     one entry that was put into a container, `binding`
    yields   what the generator function `node` yields
    rest     the positional arguments of the call `node` from `start` on (`*args`)
    keywords its keyword arguments (`**kwargs`, `dict(...)`); `namespace`: the same as attributes
    values, items, pair, enumerate, counted, zip, row, map
             what the call `node` of that name gives, and what a loop over it does
    bag      `values`, whatever is asked: a container that an annotation promises, or an empty one
    tuple    `items` by position, promised by an annotation
    callable not a container: gives `values` when called, promised by an annotation
    """

    kind: str
    module: Module | None = None
    node: ast.AST | None = None
    binding: Binding | None = None
    values: frozenset[Any] = frozenset()
    items: tuple[frozenset[Any], ...] = ()
    start: int = 0


Value = str | Box
Values = frozenset[Value]
EMPTY: Values = frozenset()


def union(parts: Iterable[Values]) -> Values:
    """All values of all parts."""
    return frozenset().union(*parts)


def boxes(values: Values) -> Values:
    """The containers among values."""
    return frozenset(value for value in values if isinstance(value, Box))


def ordered(values: Iterable[Any]) -> list[Any]:
    """Values in an order that is the same in every process: what is looked at first can decide what else is found."""
    return sorted(values, key=_order)


def _order(value: Value) -> tuple[str, str, int, int]:
    if isinstance(value, str):
        return "", value, 0, 0
    node = value.node or (value.binding.node if value.binding else None)
    path = value.module.path if value.module else ""
    return value.kind, path, getattr(node, "lineno", 0), getattr(node, "col_offset", 0)


def settled(values: frozenset[Any]) -> frozenset[Any]:
    """The values without foreign names that only grow out of others by calls on calls (`x = x.a().b()` round a loop).

    Of very many the shortest: what more than a handful of trackers could be, nothing can be done with.
    """
    if len(values) < 3:
        return values
    names = [v for v in values if isinstance(v, str) and not v.startswith(REPO)]
    if len(names) < 3:
        return values
    names.sort(key=lambda name: (_calls(name), len(name), name))
    kept: list[str] = []
    for name in names:
        if len(kept) == _MAX_NAMES:
            break
        if not any(name.startswith(k) and _calls(name) - _calls(k) > 1 and name[len(k)] in ".[(" for k in kept):
            kept.append(name)
    return values if len(kept) == len(names) else values - (set(names) - set(kept))


def _calls(name: str) -> int:
    return name.count("()") + name.count("[]")


def constant(node: ast.AST | None) -> object:
    """The value of a literal, a negative number included; None for everything else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return -value if isinstance(value, int) else None
    return None
