"""PI107: a patch at run time is named for deletion, with its lines; what it adds belongs where the framework has a door."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from instrument.audit.fixes import Fix, Fixed

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rule import Finding
    from instrument.repo.module import Module


def _make(context: AuditContext, findings: Sequence[Finding]) -> Iterator[tuple[Finding, Fixed | str]]:
    for finding in findings:
        module, node = finding.module, finding.node
        if finding.facts.get("file"):
            yield finding, f"delete {finding.path}: every process that starts here has a second tracker by it"
        elif module is not None and isinstance(node, ast.stmt):
            yield (
                finding,
                f"delete {_lines(module, node)}{_body(context, module, node)}: once what it does is done in the code",
            )
        else:
            yield finding, f"delete it ({finding.path}:{finding.line}): once what it does is done in the code"


def _lines(module: Module, node: ast.AST) -> str:
    first, last = (module.source.line_of(at) for at in (module.start(node), module.end(node)))
    return f"{module.path}:{first}" + (f"-{last}" if last != first else "")


def _body(context: AuditContext, module: Module, stmt: ast.stmt) -> str:
    """The function that is put in place, where nothing else of its file uses it."""
    value = stmt.value if isinstance(stmt, ast.Assign) else None
    if not isinstance(value, ast.Name):
        return ""
    node = module.definition(value.id)
    uses = [n for n in ast.walk(module.tree) if isinstance(n, ast.Name) and n.id == value.id]
    return f" and {_lines(module, node)} ({value.id})" if node is not None and len(uses) == 1 else ""


def make(context: AuditContext, findings: Sequence[Finding]) -> Iterable[tuple[Finding, Fixed | str]]:
    return list(_make(context, findings))


FIX = Fix(code="PI107", make=make)
