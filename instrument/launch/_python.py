"""Text put into Python displays and calls, after a given element, in the layout that is there."""

from __future__ import annotations

import ast
import re

from instrument.launch._text import newline_at
from instrument.repo.source import PythonSource
from instrument.repo.tree import walk

_AFTER = re.compile(r"(?:[ \t\r\n]|\\\r?\n|#[^\n]*(?=\n))*")


def past_parentheses(text: str, end: int) -> int:
    """Just after the parentheses that close around an element that ends at an offset: `(a)` of `[(a), b]`.

    The caller's own closing bracket is not among them unless it is a parenthesis: see `element_after`.
    """
    seen = end
    while True:
        at = _AFTER.match(text, seen).end()  # type: ignore[union-attr]
        if text[at : at + 1] != ")":
            return seen
        seen = at + 1


def element_after(source: PythonSource, container: ast.AST, first: ast.AST, last: ast.AST, new: str) -> tuple[int, str]:
    """Where and what to insert so that an element follows the one that spans `first` to `last` in a display or call."""
    text = source.text
    close = source.end(container) - 1
    end = source.end(last)
    if text[close : close + 1] == ")":
        # Parentheses around the element close before the container's own.
        depth = text[source.start(container) : end]
        end = _balanced(source, last, close) if depth else end
    else:
        end = past_parentheses(text, end)
    start = source.start(first)
    line = text.rfind("\n", 0, start) + 1
    indent = text[line:start]
    at = _AFTER.match(text, end).end()  # type: ignore[union-attr]
    comma = text[at : at + 1] == "," and "\n" not in text[end:at]
    if not indent.strip(" \t(") and line > source.start(container):
        newline = newline_at(text, start)
        indent = re.match(r"[ \t]*", indent).group()  # type: ignore[union-attr]
        if comma:
            rest = text[at + 1 :].split("\n", 1)[0].strip()
            if not rest or rest.startswith("#"):
                close_line = text.find("\n", at)
                close_line = len(text) if close_line < 0 else close_line
                while text[close_line - 1] == "\r":
                    close_line -= 1
                return close_line, f"{newline}{indent}{new},"
        elif at >= close and "\n" in text[end:at]:
            return end, f",{newline}{indent}{new}"
    return end, f", {new}"


def _balanced(source: PythonSource, last: ast.AST, close: int) -> int:
    """The end of an element of a call or tuple, parentheses around it included."""
    text, end = source.text, source.end(last)
    while True:
        at = _AFTER.match(text, end).end()  # type: ignore[union-attr]
        if at >= close or text[at] != ")":
            return end
        end = at + 1


def may_grow(tree: ast.AST, node: ast.expr) -> bool:
    """Whether a list or tuple may have one more element where it stands, as the proofs of a plan see it: where it is
    handed on, not where it is looped over, unpacked, counted or indexed at once.
    """
    above = next((inner for inner in walk(tree) if any(child is node for child in ast.iter_child_nodes(inner))), None)
    if isinstance(above, ast.Call):
        return above.func is not node
    if isinstance(above, ast.IfExp):
        return above.test is not node
    if isinstance(above, ast.Assign):
        return not any(isinstance(target, (ast.Tuple, ast.List)) for target in above.targets)
    if isinstance(above, ast.Return):
        return not isinstance(node, ast.Tuple)
    if isinstance(above, ast.BoolOp):
        return isinstance(above.op, ast.Or)
    if isinstance(above, ast.Dict):
        return not any(key is None and value is node for key, value in zip(above.keys, above.values))
    return isinstance(
        above,
        (ast.List, ast.Tuple, ast.Set, ast.BinOp, ast.Lambda, ast.keyword, ast.AnnAssign, ast.AugAssign, ast.NamedExpr),
    )


def constant(node: ast.AST | None) -> str | None:
    """The value of a string constant, or None."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def environment_read(node: ast.AST, source: PythonSource) -> tuple[str, str] | None:
    """(how it is read with a default, how without) where an expression reads an environment variable.

    `os.environ["X"]` gives ('os.environ.get("{}", "")', 'os.environ["{}"]'); `getenv("X")` keeps its name.
    """
    for inner in ast.walk(node):
        if isinstance(inner, ast.Subscript) and constant(inner.slice) and _is_environ(inner.value):
            base = source.code(inner.value)
            return f'{base}.get("{{}}", "")', f'{base}["{{}}"]'
        if isinstance(inner, ast.Call) and inner.args and constant(inner.args[0]):
            function = inner.func
            if isinstance(function, ast.Attribute) and function.attr == "get" and _is_environ(function.value):
                base = source.code(function.value)
                return f'{base}.get("{{}}", "")', f'{base}["{{}}"]'
            if ast.unparse(function) in ("os.getenv", "getenv"):
                return f'{source.code(function)}("{{}}", "")', f'{source.code(function)}("{{}}")'
    return None


def _is_environ(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and node.attr == "environ") or (
        isinstance(node, ast.Name) and node.id == "environ"
    )
