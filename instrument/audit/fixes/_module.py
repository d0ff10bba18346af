"""A module that a fix puts into the repository, and its import in the files that use it."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

from instrument.plan.edits import NewFile
from instrument.plan.place import import_point
from instrument.plan.render import environment
from instrument.plan.tracking_module import NAME, names_in

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.fixes._edits import Writer
    from instrument.repo.module import Module


def path_of(context: AuditContext, module: Module, name: str) -> str:
    """Where a module of this name goes so that a file can import it: where `probe_tracking.py` would."""
    return context.plan.tracking._place(module).path.replace(f"{NAME}.py", f"{name}.py")


def new_file(context: AuditContext, path: str, reason: str, code: str, **given: Any) -> NewFile | None:
    """The module out of the template of its name; None where there is another file of that name."""
    template = path.rpartition("/")[2]
    text = environment().get_template(f"{template}.jinja").render(**given)
    before = context.repo.read(path).decode("utf-8", "replace") if context.repo.exists(path) else None
    if before is not None and before.splitlines()[:1] != text.splitlines()[:1]:
        return None
    return NewFile(path=path, text=before or text, reason=reason, rule=code, applicability="review", replaces=before)


def imported(context: AuditContext, module: Module, name: str, function: str, writer: Writer, reason: str) -> bool:
    """Import a function of the module in a file that does not have it; False where that can't be."""
    for stmt in ast.walk(module.tree):
        if isinstance(stmt, ast.ImportFrom) and (stmt.module or "").rpartition(".")[2] == name:
            return True
    if function in names_in(module) or module.path.endswith(".ipynb"):
        return False
    package = context.plan.tracking._place(module).package
    dotted = f"{package}.{name}" if package.strip(".") else f"{package}{name}"
    own = partial(_is_own, context, module.path, name)
    return writer.put(import_point(module, [f"from {dotted} import {function}"], own=own), reason, module)


def _is_own(context: AuditContext, path: str, name: str, package: str) -> bool:
    return package == name or context.program.finder.find(package, path) is not None
