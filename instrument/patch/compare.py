"""Two syntax trees: whether they are the same, and how to leave replaced spans out of that."""

from __future__ import annotations

import ast

from instrument.patch.spans import Span
from instrument.repo.source import PythonSource

#: The fields that hold a statement's own blocks.
SUITES = ("body", "orelse", "finalbody")


def mask(tree: ast.AST, source: PythonSource, regions: list[tuple[int, int, Span]]) -> None:
    """Take out what starts in a replaced span, and blank the head of each statement that a span lies in."""
    for name in (*SUITES, "handlers", "cases"):
        block = getattr(tree, name, None)
        if not isinstance(block, list):
            continue
        kept = []
        for item in block:
            if not isinstance(item, ast.stmt):
                mask(item, source, regions)
                kept.append(item)
                continue
            start, end = source.start(item), source.end(item)
            if any(low <= start < high for low, high, _ in regions):
                continue
            inside = [region for region in regions if _meets(region, start, end)]
            if inside:
                mask(item, source, inside)
                inner = [r for r in inside if not _in_suites(r, item, source)]
                if inner:
                    item = _blank(item)
            kept.append(item)
        setattr(tree, name, kept)


def _meets(region: tuple[int, int, Span], start: int, end: int) -> bool:
    low, high, span = region
    empty = span.start == span.end  # a deletion leaves no character to look at: its neighbours count
    return low <= end and high >= start if empty else low < end and high > start


def _in_suites(region: tuple[int, int, Span], stmt: ast.stmt, source: PythonSource) -> bool:
    for holder in (stmt, *getattr(stmt, "handlers", ()), *getattr(stmt, "cases", ())):
        for name in SUITES:
            block = getattr(holder, name, None)
            if not isinstance(block, list) or not block or not isinstance(block[0], ast.stmt):
                continue
            if _meets(region, source.start(block[0]), source.end(block[-1])):
                return True
    return False


def _blank(stmt: ast.stmt) -> ast.stmt:
    """A statement of the same kind with its suites alone; its head is what was replaced."""
    for name, value in list(ast.iter_fields(stmt)):
        is_suite = name in (*SUITES, "handlers", "cases") and isinstance(value, list)
        if not is_suite:
            setattr(stmt, name, None)
    return stmt


def difference(old: ast.AST, new: ast.AST) -> tuple[ast.AST, ast.AST] | None:
    """The first two nodes that differ, as near to the difference as has a line; None if the trees are equal."""
    stack: list[tuple[object, object, tuple[ast.AST, ast.AST]]] = [(old, new, (old, new))]
    while stack:
        one, two, near = stack.pop()
        if isinstance(one, ast.AST) and isinstance(two, ast.AST):
            if type(one) is not type(two):
                return near if not hasattr(one, "lineno") else (one, two)
            if hasattr(one, "lineno"):
                near = (one, two)
            if isinstance(one, ast.TypeIgnore):
                continue  # has its line as a field, which moves
            fields = [(getattr(one, name, None), getattr(two, name, None), near) for name in one._fields]
            stack += reversed(fields)
        elif isinstance(one, list) and isinstance(two, list):
            if len(one) != len(two):
                first = next((a for a in one if hasattr(a, "lineno")), None)
                return near if first is None else (_first_apart(one, two) or first, near[1])
            stack += [(a, b, near) for a, b in zip(reversed(one), reversed(two))]
        elif type(one) is not type(two) or not _same_constant(one, two):
            return near
    return None


def _same_constant(one: object, two: object) -> bool:
    if isinstance(one, (float, complex)):  # 0.0 and -0.0 are equal but not the same, nan is the same but not equal
        return repr(one) == repr(two)
    return one == two


def _first_apart(one: list[object], two: list[object]) -> ast.AST | None:
    for a, b in zip(one, two):
        if isinstance(a, ast.AST) and isinstance(b, ast.AST) and difference(a, b) is not None:
            return a if hasattr(a, "lineno") else None
    last = one[len(two)] if len(one) > len(two) else None
    return last if isinstance(last, ast.AST) and hasattr(last, "lineno") else None
