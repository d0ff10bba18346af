"""Reading a text that is put together: f-strings, `%`, `str.format`, `+` and the arguments of `print`.

A template is a list of texts and holes; a hole has the expression that fills it and how it is formatted.
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instrument.repo.names import Module


@dataclass(frozen=True, slots=True)
class Hole:
    """A value in a text. `node` may be made up (`{m.avg}` in a format string has no node of its own)."""

    node: ast.expr
    #: The format specification, without the colon: ".4f", "d".
    spec: str = ""
    made_up: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is formatted as a text."""
        return self.spec.endswith(("s", "r", "a")) and self.spec[:1] != "%"

    @property
    def is_float(self) -> bool:
        """Whether it is formatted as a number with a fraction."""
        return self.spec[-1:] in tuple("eEfFgG%")


Part = str | Hole

_PERCENT = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?[#0\- +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?(?P<kind>[diouxXeEfFgGcrsa%])"
)
_LOCAL_STYLES = frozenset("colored style bold green red blue yellow cyan magenta dedent format_text".split())


def parts_of(module: Module, node: ast.expr, depth: int = 0) -> list[Part] | None:
    """The parts of an expression that makes a text; None for any other expression."""
    if depth > 20:
        return None
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return _joined(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return _percent(node.left, node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = parts_of(module, node.left, depth + 1), parts_of(module, node.right, depth + 1)
        if left is None and right is None:
            return None
        return [*(left or [Hole(node.left)]), *(right or [Hole(node.right)])]
    if isinstance(node, ast.Call):
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr == "format" and isinstance(func.value, ast.Constant):
            return _formatted(func.value.value, node.args, node.keywords)
        name = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
        if name == "str" and len(node.args) == 1:
            return [Hole(node.args[0])]
        if name in _LOCAL_STYLES and node.args:
            return parts_of(module, node.args[0], depth + 1)
        return None
    if isinstance(node, ast.Name):
        return _assigned_text(module, node, depth)
    return None


def _joined(node: ast.JoinedStr) -> list[Part]:
    parts: list[Part] = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(str(value.value))
        elif isinstance(value, ast.FormattedValue):
            spec = ""
            if isinstance(value.format_spec, ast.JoinedStr):
                spec = "".join(str(v.value) if isinstance(v, ast.Constant) else "*" for v in value.format_spec.values)
            if value.conversion not in (-1, None):
                spec = chr(value.conversion)
            parts.append(Hole(value.value, spec))
    return parts


def _percent(left: ast.expr, right: ast.expr) -> list[Part] | None:
    if not isinstance(left, ast.Constant) or not isinstance(left.value, str):
        return None
    named: dict[str, ast.expr] = {}
    if isinstance(right, ast.Dict):
        named = {str(k.value): v for k, v in zip(right.keys, right.values) if isinstance(k, ast.Constant)}
    return percent_parts(left.value, right.elts if isinstance(right, ast.Tuple) else [right], named)


def percent_parts(text: str, given: Iterable[ast.expr], named: dict[str, ast.expr] | None = None) -> list[Part] | None:
    """A `%` format with what fills it (also `logging.info(text, *given)`). None where they do not fit."""
    values = list(given)
    parts: list[Part] = []
    last = 0
    for found in _PERCENT.finditer(text):
        parts.append(text[last : found.start()])
        last = found.end()
        kind = found["kind"]
        if kind == "%":
            parts.append("%")
            continue
        if "*" in found[0]:
            return None
        value = (named or {}).get(found["key"]) if found["key"] is not None else (values.pop(0) if values else None)
        if value is None:
            return None
        # `%s` is written for numbers as often as not.
        parts.append(Hole(value, "" if kind == "s" else found[0][1:]))
    return [*parts, text[last:]]


def _formatted(text: object, args: list[ast.expr], keywords: list[ast.keyword]) -> list[Part] | None:
    if not isinstance(text, str) or any(isinstance(a, ast.Starred) for a in args):
        return None
    named = {k.arg: k.value for k in keywords if k.arg}
    parts: list[Part] = []
    automatic = 0
    try:
        for literal, field, spec, conversion in string.Formatter().parse(text):
            if literal:
                parts.append(literal)
            if field is None:
                continue
            head, rest = re.match(r"([^.\[]*)(.*)", field, re.DOTALL).groups()  # type: ignore[union-attr]
            if not head:
                head, automatic = str(automatic), automatic + 1
            value = args[int(head)] if head.isdigit() and int(head) < len(args) else named.get(head)
            if value is None:
                return None
            hole = _with_path(value, rest)
            if hole is None:
                return None
            parts.append(Hole(hole, conversion or spec or "", made_up=bool(rest)))
    except ValueError:
        return None
    return parts


def _with_path(value: ast.expr, path: str) -> ast.expr | None:
    """`{m.avg}` and `{m[loss]}` as expressions on what `m` is given as."""
    node = value
    for attribute, item in re.findall(r"\.(\w+)|\[([^\]]+)\]", path):
        if attribute:
            node = ast.Attribute(node, attribute, ast.Load())
        else:
            node = ast.Subscript(node, ast.Constant(int(item) if item.isdigit() else item), ast.Load())
        ast.copy_location(node, value)
    return node


def _assigned_text(module: Module, node: ast.Name, depth: int) -> list[Part] | None:
    """`message = f"..."` just above `print(message)`."""
    stmt = module.statement(node)
    block, index = module.block(stmt)
    for other in reversed(block[max(0, index - 3) : index]):
        if isinstance(other, ast.Assign) and len(other.targets) == 1 and isinstance(other.targets[0], ast.Name):
            if other.targets[0].id == node.id:
                # What is between the two must leave the values alone: only texts are put together there.
                return parts_of(module, other.value, depth + 5)
        elif not isinstance(other, ast.Expr):
            return None
    return None


def printed(module: Module, args: list[ast.expr]) -> list[Part] | None:
    """What `print(*args)` writes. None where an argument is not written out."""
    parts: list[Part] = []
    for position, arg in enumerate(args):
        if isinstance(arg, ast.Starred):
            return None
        if position:
            parts.append(" ")
        parts += parts_of(module, arg) or [Hole(arg)]
    return parts


def braces_parts(text: str, args: list[ast.expr], keywords: list[ast.keyword]) -> list[Part] | None:
    """A `{}` format (loguru's `logger.info("loss {}", loss)`)."""
    return _formatted(text, args, keywords)
