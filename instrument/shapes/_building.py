"""Shared by shapes that register where an object is built: names, targets, insertions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.bind import fresh_name, moved_text

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Site
    from instrument.plan.place import Insertion
    from instrument.repo.names import Module


def class_calls(module: Module) -> Iterator[ast.Call]:
    """Calls that may build an object. Classes are capitalised; resolving every call of a repository is what costs."""
    for call in module.calls():
        func = call.func
        last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if last.lstrip("_")[:1].isupper():
            yield call


def calls_of(context: Context, module: Module, method: str, names: frozenset[str]) -> Iterator[ast.Call]:
    """Calls of a function or method by its last name, where it may stand for one of the qualified names."""
    for call in module.calls():
        func = call.func
        last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        if last == method and context.program.resolve(module, func) & names:
            yield call


def target_of(module: Module, call: ast.Call) -> str | None:
    """The name or attribute that a built object is kept in, if its call is the value of an assignment."""
    stmt = module.statement(call)
    if isinstance(stmt, (ast.Assign, ast.AnnAssign)) and module.parent(call) is stmt:
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) else stmt.target
        if isinstance(target, (ast.Name, ast.Attribute)):
            return module.code(target)
    return None


def refuse_shadowed(context: Context, module: Module, site: Site) -> bool:
    """Refuse a site whose file would import the repository's own `probe` in place of the SDK."""
    shadow = context.tracking.shadowed(module)
    if shadow is None:
        return False
    site.outcome, site.why = "refused", f"{shadow} shadows the SDK's package `probe`"
    context.note(
        "refusal", "probe-shadowed",
        f"{shadow} shadows the SDK: `import probe` would import it, so {module.path} is left alone",
        path=shadow, next=f"rename {shadow}, then run `instrument apply` again",
    )  # fmt: skip
    return True


def ask(context: Context, site: Site, code: str, message: str, next: str = "") -> None:
    """Leave a site to a person, and say so."""
    site.outcome, site.why = "asked", message
    context.note("question", code, message, path=site.path, line=site.line, next=next)


def insert(context: Context, module: Module, point: Insertion, rule: str, reason: str, group: str = "") -> None:
    """Add an insertion to the plan."""
    context.edit(module.path, point.offset, point.offset, point.text, reason=reason, rule=rule, group=group)


def after_building(
    context: Context, module: Module, call: ast.Call, line: str, rule: str, reason: str, base: str = "trainer"
) -> bool:
    """Write a statement that uses the built object (`{}` in `line`), naming the object first where it has no name.

    False where no place for it exists.
    """
    target, stmt = target_of(module, call), module.statement(call)
    if target is not None:
        point = place.after(module, stmt, [line.format(target)])
        if point is None:
            return False
        insert(context, module, point, rule, reason)
        return True
    if not place.evaluated_once(module, call):
        return False
    name = fresh_name(module, call, base)
    text = moved_text(module, call, place.indent_of(module, stmt))
    point = place.before(module, stmt, [f"{name} = {text}", line.format(name)])
    if point is None:
        return False
    group = f"{module.path}:{module.start(call)}"
    insert(context, module, point, rule, reason, group)
    context.edit(
        module.path, module.start(call), module.end(call), name, reason="the object built above", rule=rule,
        group=group, moved=True,
    )  # fmt: skip
    return True
