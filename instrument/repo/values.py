"""What an expression can stand for: qualified names, and containers from which other values are taken."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from instrument.repo.module import Module
from instrument.repo.scopes import Binding

#: Marks a qualified name as a definition of the repository itself.
REPO = "repo:"


#: More foreign names than this are no answer.
_MAX_NAMES = 16


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

    __slots__ = ("_hash", "_key", "binding", "items", "kind", "module", "node", "order", "start", "values")

    def __init__(
        self,
        kind: str,
        module: Module | None = None,
        node: ast.AST | None = None,
        *,
        binding: Binding | None = None,
        values: frozenset[Any] = frozenset(),
        items: tuple[frozenset[Any], ...] = (),
        start: int = 0,
    ) -> None:
        self.kind, self.module, self.node, self.binding = kind, module, node, binding
        self.values, self.items, self.start = values, items, start
        self._key = (kind, node, binding, values, items, start)
        self._hash = hash(self._key)
        place = node or (binding.node if binding else None)
        path = module.path if module else ""
        #: Where it stands, for sorting.
        self.order = (kind, path, getattr(place, "lineno", 0), getattr(place, "col_offset", 0))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Box) and self._key == other._key)


Value = str | Box
Values = frozenset[Value]
EMPTY: Values = frozenset()


def union(parts: Iterable[Values]) -> Values:
    """All values of all parts."""
    return frozenset().union(*parts)


def boxes(values: Values) -> Values:
    """The containers among values."""
    return frozenset(value for value in values if isinstance(value, Box))


def ordered(values: frozenset[Any]) -> list[Any]:
    """Values in an order that is the same in every process: what is looked at first can decide what else is found."""
    return list(values) if len(values) < 2 else sorted(values, key=_order)


def _order(value: Value) -> tuple[str, str, int, int]:
    return ("", value, 0, 0) if isinstance(value, str) else value.order


def settled(values: frozenset[Any]) -> frozenset[Any]:
    """The values without foreign names that only grow out of others by calls on calls (`x = x.a().b()` round a loop).

    Of very many the shortest: what more than a handful of trackers could be, nothing can be done with.
    """
    if len(values) < 3:
        return values
    foreign = [value for value in values if isinstance(value, str) and not value.startswith(REPO)]
    names = [(name.count("()") + name.count("[]"), len(name), name) for name in foreign]
    if len(names) <= _MAX_NAMES and (len(names) < 2 or max(names)[0] - min(names)[0] < 2):
        return values
    kept: list[tuple[int, str]] = []
    for calls, _, name in sorted(names):
        if len(kept) == _MAX_NAMES:
            break
        if not any(calls - fewer > 1 and name.startswith(k) and name[len(k)] in ".[(" for fewer, k in kept):
            kept.append((calls, name))
    return values - ({name for _, _, name in names} - {name for _, name in kept})


def constant(node: ast.AST | None) -> object:
    """The value of a literal, a negative number included; None for everything else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return -value if isinstance(value, int) else None
    return None
