"""PI103: the product becomes a count of the steps that were made, kept in the checkpoint that the trainer writes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from instrument.audit.fixes import Fix, Fixed
from instrument.audit.fixes._edits import Writer, called, free_name, last_entry, quoted, up
from instrument.audit.fixes._module import imported, new_file, path_of
from instrument.audit.fixes._state import Loaded, Saved, loaded, saved
from instrument.plan.place import after, at_top_of, before
from instrument.repo.scopes import arguments_of

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.audit.rule import Finding
    from instrument.repo.module import Module

_NAMES = ("steps_done", "train_steps_done")
_FILE = "train_steps"
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_WHY = "a count of the steps made, which goes up whatever a rollout holds"


def _make(context: AuditContext, findings: Sequence[Finding]) -> Iterator[tuple[Finding, Fixed | str]]:
    for finding in findings:
        module, node = finding.module, finding.node
        if module is None or not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            yield finding, "the step is made in a way that is not followed"
            continue
        yield finding, _fix(context, module, node, finding.facts)


def _fix(
    context: AuditContext, module: Module, stmt: ast.Assign | ast.AnnAssign, facts: Mapping[str, Any]
) -> Fixed | str:
    function = module.function(stmt)
    loops = [node for node in up(module, stmt) if isinstance(node, _LOOPS) and module.function(node) is function]
    if len(loops) < 2:
        return _of_rollouts(context, module, stmt, facts)
    block, _ = module.block(stmt)
    if block is not loops[0].body:
        return "it is computed under a condition: count the steps made where each is made, by hand"
    saves, loads = saved(context, module), loaded(context, module)
    here = [one for one in saves if one.function is function]
    there = [one for one in loads if one.function is function and one.stmt is not None]
    if here and not there:
        return "the checkpoint that it saves is not loaded in the same function: keep the count of steps there by hand"
    writer = Writer("PI103", module, stmt, "review")
    if not here:
        method = _method(module, function)
        if method is not None:
            return _attribute(context, module, stmt, writer, method, saves, loads)
        if saves or there:
            return "the checkpoint is written in another function: hand the count of steps to it by hand"
    name = free_name(module, stmt, _NAMES)
    if not _counted(module, stmt, writer, name):
        return "there is no place for the count"
    outermost = loops[-1]
    first = _before_both(module, outermost, there)
    if first is None or not writer.put(before(module, first, [f"{name} = 0"]), "the count begins"):
        return "there is no place before the loop for the count to begin"
    for one in there:
        assert one.stmt is not None
        line = f"{name} = {one.name}.get({quoted(module, name)}, 0)"
        if not writer.put(after(module, one.stmt, [line]), "a resumed run goes on counting"):
            return "there is no place after the load for the count"
    for save in here:
        text = f"{quoted(module, name)}: {name}"
        writer.put(last_entry(module, save.mapping, text), "the count is kept in the checkpoint")
    return Fixed(edits=tuple(writer.edits), applicability="review")


def _counted(module: Module, stmt: ast.Assign | ast.AnnAssign, writer: Writer, name: str) -> bool:
    """The step is the count, and the count goes up by one."""
    assert stmt.value is not None
    writer.replace(stmt.value, name, _WHY)
    return writer.put(after(module, stmt, [f"{name} += 1"]), _WHY)


def _before_both(module: Module, loop: ast.AST, loads: Sequence[Loaded]) -> ast.stmt | None:
    """The statement of the loop's own block before which nothing of the loop or the loads has run."""
    assert isinstance(loop, ast.stmt)
    block, position = module.block(loop)
    for load in loads:
        assert load.stmt is not None
        holder = next((node for node in up(module, load.stmt) if node in block), None)
        if not isinstance(holder, ast.stmt):
            return None
        position = min(position, block.index(holder))
    return block[position]


# -- a trainer that is called for each rollout


def _of_rollouts(
    context: AuditContext, module: Module, stmt: ast.Assign | ast.AnnAssign, facts: Mapping[str, Any]
) -> Fixed | str:
    """Miles, slime and what was made of them: the count is kept beside the checkpoints, by rollout."""
    by_hand = "its loops are in other functions: keep a count of the steps made in the trainer's state by hand"
    if "args" not in module.scope_of(stmt, inner=False).names or not context.repo.having(b"args.save"):
        return by_hand
    parts = [facts.get(name) for name in ("outer", "inner", "factor")]
    if not all(isinstance(part, (ast.Name, ast.Attribute)) for part in parts) or stmt.value is None:
        return by_hand
    writer = Writer("PI103", module, stmt, "review")
    path = path_of(context, module, _FILE)
    made = new_file(context, path, _WHY, "PI103")
    if made is None or not imported(context, module, _FILE, "train_step", writer, _WHY):
        return f"{path} is there already, with something else in it"
    given = ["args", *(module.code(part) for part in parts if part is not None)]
    role = _role(module, stmt)
    writer.replace(stmt.value, called(module, stmt, "train_step", [*given, *([role] if role else [])]), _WHY)
    return Fixed(edits=tuple(writer.edits), new_files=(made,), applicability="review")


def _role(module: Module, stmt: ast.stmt) -> str:
    """The role that a function knows: its parameter, or what it is bound to a few lines on."""
    function = module.function(stmt)
    if function is None:
        return ""
    if any(arg.arg == "role" for arg in arguments_of(function)):
        return "role"
    block, position = module.block(stmt)
    for other in block[:position]:
        if _binds_role(other) is not None:
            return "role"
    for other in block[position + 1 :]:
        value = _binds_role(other)
        if value is not None:
            plain = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "getattr"
            return module.code(value) if plain else ""
    return ""


def _binds_role(stmt: ast.stmt) -> ast.expr | None:
    if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1:
        target = stmt.targets[0]
        return stmt.value if isinstance(target, ast.Name) and target.id == "role" else None
    return None


# -- in a class


def _method(module: Module, function: object) -> ast.ClassDef | None:
    if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        parent = module.parent(function)
        if isinstance(parent, ast.ClassDef) and module.index.inner[function].self_name is not None:
            return parent
    return None


def _attribute(
    context: AuditContext, module: Module, stmt: ast.Assign | ast.AnnAssign, writer: Writer, owner: ast.ClassDef,
    saves: Sequence[Saved], loads: Sequence[Loaded],
) -> Fixed | str:  # fmt: skip
    """The trainer is a class: the count is an attribute, begun in `__init__` and kept by the methods that save and load."""
    methods = [node for node in owner.body if isinstance(node, ast.FunctionDef)]
    init = next((method for method in methods if method.name == "__init__"), None)
    own_saves = [one for one in saves if one.function in methods]
    own_loads = [one for one in loads if one.function in methods]
    if init is None or not own_saves or not own_loads:
        return "its class does not both save and load a checkpoint: keep the count of steps in it by hand"
    attribute = next(name for name in (*_NAMES, "steps_done_by_trainer") if not _uses(owner, name))

    def of(function: object) -> str:
        assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        return f"{module.index.inner[function].self_name}.{attribute}"

    if not _counted(module, stmt, writer, of(module.function(stmt))):
        return "there is no place for the count"
    begun = after(module, init.body[-1], [f"{of(init)} = 0"])
    if not writer.put(begun, "the count begins"):
        return "there is no place in __init__ for the count"
    if not keep(writer, module, own_saves, own_loads, attribute, of):
        return "there is no place after the load for the count"
    return Fixed(edits=tuple(writer.edits), applicability="review")


def _uses(owner: ast.ClassDef, name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(owner))


def keep(writer: Writer, module: Module, saves: Sequence[Saved], loads: Sequence[Loaded], key: str, of: object) -> bool:
    """Put a counter into what is saved, and take it back from what is loaded. False where there is no place."""
    assert callable(of)
    for save in saves:
        writer.put(
            last_entry(module, save.mapping, f"{quoted(module, key)}: {of(save.function)}"),
            "the count is kept in the checkpoint",
        )
    for load in loads:
        counter = of(load.function)
        line = f"{counter} = {load.name}.get({quoted(module, key)}, {counter})"
        if load.stmt is not None:
            place = after(module, load.stmt, [line])
        else:
            assert isinstance(load.function, ast.FunctionDef)
            place = at_top_of(module, load.function, [line])
        if not writer.put(place, "a resumed run goes on counting"):
            return False
    return True


def make(context: AuditContext, findings: Sequence[Finding]) -> Iterable[tuple[Finding, Fixed | str]]:
    return list(_make(context, findings))


FIX = Fix(code="PI103", make=make)
