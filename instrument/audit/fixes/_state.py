"""Where a trainer keeps its state: the mappings it saves, and the names it loads them into."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instrument.plan.place import argument

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.module import Module
    from instrument.repo.scopes import AnyFunction

#: Calls whose first argument is what is kept (PyTorch, the standard library, joblib, safetensors' metadata aside).
_SAVERS = frozenset({"torch.save", "pickle.dump", "json.dump", "joblib.dump", "cloudpickle.dump", "dill.dump"})
_DUMPERS = frozenset({"json.dumps", "pickle.dumps"})
_LOADERS = frozenset(
    {"torch.load", "pickle.load", "json.load", "joblib.load", "cloudpickle.load", "dill.load", "json.loads",
     "pickle.loads"}
)  # fmt: skip
_SAVING = re.compile(r"save|checkpoint|ckpt|persist|state", re.IGNORECASE)
_LOADING = re.compile(r"load|restore|resume", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Saved:
    """A mapping that is written out where it is saved, and the function that does it (None: the module)."""

    module: Module
    mapping: ast.Dict
    function: AnyFunction | None


@dataclass(frozen=True, eq=False)
class Loaded:
    """A name that holds what was loaded, and the statement that binds it (None: a parameter)."""

    module: Module
    name: str
    stmt: ast.stmt | None
    function: AnyFunction | None


def saved(context: AuditContext, module: Module) -> list[Saved]:
    """The checkpoints that a file writes: a dict literal given to a saver, or returned by `state_dict`."""
    found: dict[int, Saved] = {}
    for call in module.calls():
        names = context.program.resolve(module, call.func)
        own = _called(call)
        given: ast.expr | None = None
        if names & _SAVERS:
            given = argument(call, 0, "obj", "value")
        elif names & _DUMPERS and _saves(module, call):
            given = argument(call, 0, "obj")
        elif re.match(r"_?save", own) and not names & _DUMPERS:
            given = next((a for a in [*call.args, *(k.value for k in call.keywords)] if isinstance(a, ast.Dict)), None)
        mapping = _mapping(module, given)
        if mapping is not None and mapping.keys and all(_plain_key(key) for key in mapping.keys):
            found[id(mapping)] = Saved(module, mapping, module.function(mapping))
    for _, node in module.definitions:
        if isinstance(node, ast.FunctionDef) and node.name in ("state_dict", "get_state", "__getstate__"):
            for part in ast.walk(node):
                if isinstance(part, ast.Return) and (mapping := _mapping(module, part.value)) is not None:
                    found[id(mapping)] = Saved(module, mapping, node)
    return sorted(found.values(), key=lambda one: module.start(one.mapping))


def loaded(context: AuditContext, module: Module) -> list[Loaded]:
    """The names that a file loads a checkpoint into, in order."""
    found: list[Loaded] = []
    for call in module.calls():
        if not context.program.resolve(module, call.func) & _LOADERS:
            continue
        stmt = module.statement(call)
        target = _single_name(stmt)
        if target is not None and isinstance(stmt, (ast.Assign, ast.AnnAssign)) and stmt.value is call:
            found.append(Loaded(module, target, stmt, module.function(call)))
    for _, node in module.definitions:
        if isinstance(node, ast.FunctionDef) and node.name in ("load_state_dict", "set_state", "__setstate__"):
            given = node.args.args
            if len(given) >= 2:
                found.append(Loaded(module, given[1].arg, None, node))
    return found


def _called(call: ast.Call) -> str:
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def _single_name(stmt: ast.stmt) -> str | None:
    if isinstance(stmt, ast.Assign) and len(stmt.targets) == 1 and isinstance(stmt.targets[0], ast.Name):
        return stmt.targets[0].id
    if isinstance(stmt, ast.AnnAssign) and isinstance(stmt.target, ast.Name):
        return stmt.target.id
    return None


def _mapping(module: Module, given: ast.expr | None) -> ast.Dict | None:
    """A dict literal, or the one that a local name is bound to once."""
    if isinstance(given, ast.Dict):
        return given
    if isinstance(given, ast.Name):
        found = module.lookup(module.scope_of(given, inner=False), given.id)
        if found is not None and len(found[1]) == 1:
            node = found[1][0].node
            if isinstance(node, ast.Dict) and not found[1][0].steps:
                return node
    return None


def _plain_key(key: ast.expr | None) -> bool:
    return key is None or (isinstance(key, ast.Constant) and isinstance(key.value, str))


def _saves(module: Module, call: ast.Call) -> bool:
    """Whether text made of a mapping goes to a file: inside `write_text(...)`, or in a function that saves."""
    parent = module.parent(call)
    if isinstance(parent, ast.Call) and _called(parent) in ("write_text", "write_bytes", "write"):
        # A log line is written too, again and again: what is kept replaces the file.
        return _called(parent) != "write" or bool(_SAVING.search(_function_name(module, call)))
    return bool(_SAVING.search(_function_name(module, call)))


def _function_name(module: Module, node: ast.AST) -> str:
    function = module.function(node)
    return getattr(function, "name", "")
