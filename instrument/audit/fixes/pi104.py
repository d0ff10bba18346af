"""PI104: the counter becomes part of the checkpoint that the trainer writes, and is taken back from the one it loads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from instrument.audit.fixes import Fix, Fixed
from instrument.audit.fixes._edits import Writer, last_entry, quoted
from instrument.audit.fixes._state import Loaded, Saved, loaded, saved
from instrument.audit.fixes.pi103 import keep
from instrument.plan.place import after, indent_of, one_line_suite

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rule import Finding
    from instrument.repo.module import Module

_BY_HAND = {
    "role": "which key each role's counter gets, and which axis its metrics plot against, is a person's to say",
    "elapsed": "seconds since the start are no step: log against a counter, or keep the start in the checkpoint",
}


def _make(context: AuditContext, findings: Sequence[Finding]) -> Iterator[tuple[Finding, Fixed | str]]:
    for finding in findings:
        kind = str(finding.facts.get("kind", "counter"))
        module, node = finding.module, finding.node
        if kind in _BY_HAND:
            yield finding, _BY_HAND[kind]
        elif module is None or not isinstance(node, ast.AugAssign):
            yield finding, "the counter is kept in a way that is not followed"
        else:
            yield finding, _fix(context, module, node, finding.facts)


def _fix(context: AuditContext, module: Module, node: ast.AugAssign, facts: Any) -> Fixed | str:
    saves, loads = saved(context, module), loaded(context, module)
    writer = Writer("PI104", module, node, "review")
    scope = facts.get("scope")
    if scope is not None and scope.kind == "class" and isinstance(node.target, ast.Attribute):
        return _of_class(context, module, node, scope.node, writer, saves, loads)
    if isinstance(node.target, ast.Name):
        return _of_module(module, node.target.id, writer, saves, loads)
    return "the counter is kept in a way that is not followed"


def _of_class(
    context: AuditContext, module: Module, node: ast.AugAssign, owner: ast.AST, writer: Writer, saves: Sequence[Saved],
    loads: Sequence[Loaded],
) -> Fixed | str:  # fmt: skip
    assert isinstance(node.target, ast.Attribute) and isinstance(owner, ast.ClassDef)
    name = node.target.attr
    own_saves, own_loads = _in_class(module, owner, saves), _in_class(module, owner, loads)
    if own_saves and own_loads:

        def of(function: object) -> str:
            assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
            return f"{module.index.inner[function].self_name}.{name}"

        if not keep(writer, module, own_saves, own_loads, name.strip("_"), of):
            return "there is no place after the load for the counter"
        return Fixed(edits=tuple(writer.edits), applicability="review")
    return _held_by_another(context, module, owner, name, writer, saves, loads)


def _in_class(module: Module, owner: ast.ClassDef, found: Sequence[Any]) -> list[Any]:
    return [
        one for one in found
        if isinstance(one.function, (ast.FunctionDef, ast.AsyncFunctionDef)) and module.parent(one.function) is owner
    ]  # fmt: skip


def _held_by_another(
    context: AuditContext, module: Module, owner: ast.ClassDef, name: str, writer: Writer, saves: Sequence[Saved],
    loads: Sequence[Loaded],
) -> Fixed | str:  # fmt: skip
    """The counter's object is an attribute or variable of what saves: `self.logger.step`, `logger.step`."""
    instance = f"repo:{module.dotted}.{module.qualname(owner)}()"
    lines = 0
    for save in saves:
        held = _holder(context, module, save.mapping, instance)
        if held is None:
            return "no checkpoint is written where the counter can be reached: keep it in the trainer's state by hand"
        entry = f"{quoted(module, _key(owner, name))}: {held}.{name}"
        writer.put(last_entry(module, save.mapping, entry), "the counter is kept in the checkpoint")
        lines += 1
    for load in loads:
        place = load.stmt or (load.function.body[0] if isinstance(load.function, ast.FunctionDef) else None)
        held = _holder(context, module, place, instance) if place is not None else None
        if held is None or load.stmt is None:
            return "no checkpoint is loaded where the counter can be reached: keep it in the trainer's state by hand"
        line = f"{held}.{name} = {load.name}.get({quoted(module, _key(owner, name))}, {held}.{name})"
        if not writer.put(after(module, load.stmt, [line]), "a resumed run goes on counting"):
            return "there is no place after the load for the counter"
        lines += 1
    if not saves or not loads:
        return "this file does not both save and load a checkpoint: keep the counter in the trainer's state by hand"
    return Fixed(edits=tuple(writer.edits), applicability="review")


def _key(owner: ast.ClassDef, name: str) -> str:
    return name.strip("_")


def _holder(context: AuditContext, module: Module, place: ast.AST, instance: str) -> str | None:
    """What an object of the counter's class is called where a checkpoint is saved or loaded."""
    scope = module.scope_of(place, inner=False)
    found: dict[str, None] = {}
    for outer in scope.chain():
        if outer.self_name is not None and outer.parent is not None:
            for attribute, bindings in outer.parent.self_attributes.items():
                if any(_is(context, module, binding.node, instance) for binding in bindings):
                    found[f"{outer.self_name}.{attribute}"] = None
        for name, bindings in outer.names.items():
            if outer.kind in ("function", "module") and any(
                binding.kind == "value" and not binding.steps and _is(context, module, binding.node, instance)
                and module.start(binding.node) < module.start(place)
                for binding in bindings
            ):  # fmt: skip
                found[name] = None
    return next(iter(found)) if len(found) == 1 else None


def _is(context: AuditContext, module: Module, node: ast.AST, instance: str) -> bool:
    return isinstance(node, ast.expr) and instance in context.program.resolve(module, node)


# -- a name of the module's


def _of_module(
    module: Module, name: str, writer: Writer, saves: Sequence[Saved], loads: Sequence[Loaded]
) -> Fixed | str:
    if not saves or not loads:
        return "this file does not both save and load a checkpoint: keep the counter in the trainer's state by hand"
    key = name.strip("_")
    for save in saves:
        writer.put(
            last_entry(module, save.mapping, f"{quoted(module, key)}: {name}"), "the counter is kept in the checkpoint"
        )
    for load in loads:
        if not _taken_back(module, name, key, load, writer):
            return "the counter can't be set where the checkpoint is loaded: take it back by hand"
    return Fixed(edits=tuple(writer.edits), applicability="review")


def _taken_back(module: Module, name: str, key: str, load: Loaded, writer: Writer) -> bool:
    line = f"{name} = {load.name}.get({quoted(module, key)}, {name})"
    if load.stmt is None or one_line_suite(module, load.stmt):
        return False
    function = load.function
    if function is None:
        return writer.put(after(module, load.stmt, [line]), "a resumed run goes on counting")
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    if name in module.index.inner[function].names or _reads_before(module, function, name):
        return False
    if name not in module.index.inner[function].globals:
        if not _declared(module, function, name, writer):
            return False
    return writer.put(after(module, load.stmt, [line]), "a resumed run goes on counting")


def _declared(module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, name: str, writer: Writer) -> bool:
    """`global NAME`, in the function's own `global` line if it has one, else at its top."""
    for stmt in function.body:
        if isinstance(stmt, ast.Global):
            writer.replace(stmt, f"{module.code(stmt)}, {name}", f"«{name}» is the module's")
            return True
    documented = ast.get_docstring(function, clean=False) is not None
    first = function.body[1 if documented and len(function.body) > 1 else 0]
    word = re.match(r"\S+", module.code(first))
    assert word is not None
    start = module.start(first)
    lead = f"global {name}{module.source.newline}{indent_of(module, first)}"
    writer.span(start, start + word.end(), lead + word[0], f"«{name}» is the module's")
    return True


def _reads_before(module: Module, function: ast.AST, name: str) -> bool:
    """Whether the function uses the name: then `global` can't stand where the load is."""
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(function)) and name not in (
        module.index.inner[function].globals
    )


def make(context: AuditContext, findings: Sequence[Finding]) -> Iterable[tuple[Finding, Fixed | str]]:
    return list(_make(context, findings))


FIX = Fix(code="PI104", make=make)
