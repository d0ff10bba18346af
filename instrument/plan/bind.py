"""Evaluating once: which expressions may be written twice, and names for those that may not."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instrument.repo.names import Module

#: A mapping that is written twice must leave the line short enough to read; a longer one is bound to a name.
REPEATABLE_LENGTH = 60


def effect_free(node: ast.expr) -> bool:
    """Whether evaluating an expression does nothing but look at names: constants, names, attributes, and so on.

    A read of an item by a constant key counts too where it only finds the object that a method is called on.
    """
    if isinstance(node, (ast.Constant, ast.Name)):
        return True
    if isinstance(node, ast.Attribute):
        return effect_free(node.value)
    if isinstance(node, ast.Starred):
        return effect_free(node.value)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.Subscript):
        return effect_free(node.value) and isinstance(node.slice, ast.Constant)
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(effect_free(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        return all(key is not None and effect_free(key) for key in node.keys) and all(map(effect_free, node.values))
    return False


def repeatable(node: ast.expr, *, role: str = "metrics") -> bool:
    """Whether an expression may be written twice: a literal, a name, an attribute; for a step also their arithmetic."""
    if isinstance(node, ast.Subscript):
        return False
    if isinstance(node, ast.JoinedStr):
        return all(
            isinstance(part, ast.Constant)
            or (isinstance(part, ast.FormattedValue) and repeatable(part.value, role="step") and _written_out(part))
            for part in node.values
        )
    if isinstance(node, ast.BinOp) and role in ("step", "key"):
        if role == "key" and not isinstance(node.op, ast.Add):
            return False
        return repeatable(node.left, role=role) and repeatable(node.right, role=role)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant) or (role == "commit" and repeatable(node.operand))
    if isinstance(node, ast.Compare):
        return role == "commit" and all(map(repeatable, [node.left, *node.comparators]))
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(repeatable(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        keys = all(key is not None and repeatable(key) for key in node.keys)
        return keys and all(repeatable(value) for value in node.values)
    return isinstance(node, (ast.Constant, ast.Name)) or (isinstance(node, ast.Attribute) and repeatable(node.value))


def _written_out(part: ast.FormattedValue) -> bool:
    """Whether how a value is formatted is written out: `{epoch:03d}`."""
    spec = part.format_spec
    return spec is None or (
        isinstance(spec, ast.JoinedStr) and all(isinstance(item, ast.Constant) for item in spec.values)
    )


def short_enough(module: Module, node: ast.expr) -> bool:
    """Whether a repeated literal still reads well: one line, not too long."""
    if not isinstance(node, (ast.Dict, ast.List, ast.Tuple)):
        return True
    code = module.code(node)
    return "\n" not in code and "\r" not in code and len(code) <= REPEATABLE_LENGTH


def fresh_name(module: Module, node: ast.AST, base: str, also_taken: set[str] | None = None) -> str:
    """A name that the scope of a node does not use. At module level it starts with an underscore.

    A script may collect its own globals as its config (nanoGPT does); names with an underscore stay out of that.
    """
    taken = module.scope_names(node) | (also_taken or set())
    prefix = "_" if module.function(node) is None else ""
    for candidate in (base, f"logged_{base}", f"{base}_to_log", f"probe_{base}"):
        if prefix + candidate not in taken:
            return prefix + candidate
    number = 2
    while f"{prefix}probe_{base}{number}" in taken:
        number += 1
    return f"{prefix}probe_{base}{number}"


def moved_text(module: Module, node: ast.expr, indent: str) -> str:
    """An expression's text as it reads when its first line starts at `indent`: later lines move with it.

    A text with a string over several lines is left as it is, since moving its lines would change the string.
    """
    code = module.code(node)
    if isinstance(node, ast.NamedExpr):
        code = f"({code})"
    if "\n" not in code and "\r" not in code:
        return code
    source = module.source
    line = source.line_start(source.line_of(module.start(node)))
    lead = re.match(r"[ \t]*", source.text[line:]).group()  # type: ignore[union-attr]
    if lead == indent or not lead.startswith(indent):
        return code
    for part in ast.walk(node):
        if isinstance(part, (ast.Constant, ast.JoinedStr)) and part.lineno != part.end_lineno:
            return code
    extra = lead[len(indent) :]
    first, *rest = code.splitlines(keepends=True)
    return first + "".join(indent + text[len(lead) :] if text.startswith(indent + extra) else text for text in rest)
