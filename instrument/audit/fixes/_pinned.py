"""Whether a repository's own tests hold a function to its zero: then taking it away is a person's to decide."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.errors import SourceError

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.scopes import AnyFunction


def pinned(context: AuditContext, function: AnyFunction | None) -> str:
    """`path:line` of a test that uses a function and compares something with zero; "" where there is none."""
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return ""
    for path in context.repo.having(function.name.encode(), suffixes=(".py",)):
        if context.repo.kind(path) != "tests":
            continue
        try:
            tree = context.program.module(path).tree
        except SourceError:
            continue
        for test in ast.walk(tree):
            if isinstance(test, (ast.FunctionDef, ast.AsyncFunctionDef)) and test.name.startswith("test"):
                line = _zero(test, function.name)
                if line:
                    return f"{path}:{line}"
    return ""


def _zero(test: ast.AST, name: str) -> int:
    if not any(name in (getattr(node, "id", ""), getattr(node, "attr", "")) for node in ast.walk(test)):
        return 0
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and any(isinstance(op, (ast.Eq, ast.Is)) for op in node.ops):
            for side in node.comparators:
                if any(isinstance(n, ast.Constant) and type(n.value) is float and n.value == 0 for n in ast.walk(side)):
                    return node.lineno
    return 0
