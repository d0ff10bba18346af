"""The function that every row of Miles, slime and their forks goes through, and the sections that it gives their keys."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.audit.fixes import Fixed
from instrument.audit.fixes._edits import Writer, quoted
from instrument.audit.fixes._module import imported, new_file, path_of
from instrument.plan.place import at_top_of
from instrument.repo.scopes import arguments_of

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.module import Module

_SECTIONS = "a row's keys get their sections from one map, where all rows pass"


def funnels(context: AuditContext) -> Iterator[tuple[Module, ast.FunctionDef]]:
    """`def log(args, metrics, step_key)`, at the top of a file."""
    for module in context.modules(b"step_key"):
        function = module.definition("log")
        if isinstance(function, ast.FunctionDef):
            if [arg.arg for arg in arguments_of(function)][:3] == ["args", "metrics", "step_key"]:
                yield module, function


def is_sectioned(function: ast.FunctionDef) -> bool:
    """Whether it was done before."""
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "sectioned"
        for node in ast.walk(function)
    )


def sections(context: AuditContext, module: Module, function: ast.FunctionDef) -> Fixed | str:
    """Each key that has no section gets the one of the map, else that of the counter its row plots against."""
    writer = Writer("PI106", module, function, "review")
    path = path_of(context, module, "metric_sections")
    said = sorted(context.settings.section.items(), key=lambda pair: (pair[1], pair[0]))
    pairs = [(quoted(module, key), quoted(module, section)) for key, section in said]
    made = new_file(context, path, _SECTIONS, "PI106", sections=pairs, funnel=True)
    place = at_top_of(module, function, ["metrics = sectioned(metrics, step_key)"])
    if made is None or not writer.put(place, _SECTIONS):
        return f"{path} is there already, with something else in it"
    if not imported(context, module, "metric_sections", "sectioned", writer, _SECTIONS):
        return "sectioned can't be imported there"
    return Fixed(edits=tuple(writer.edits), new_files=(made,), applicability="review")
