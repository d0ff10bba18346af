"""What the tables of several trackers share: reading what stands around an opening, and mapping rows with a prefix."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import TYPE_CHECKING

from instrument.plan.bind import repeatable
from instrument.plan.config import config_at
from instrument.plan.place import argument

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.emission import Tracker
    from instrument.repo.names import Module

#: First parts of paths that hold settings and facts about the run, not results.
_SETTINGS = frozenset(
    "parameters params param config configs configuration hyperparameters hparams hparam args settings setup sys "
    "source_code monitoring environment env dataset data info model_info git seed opt options flags cfg hyp version".split()
)


def name_argument(module: Module, call: ast.Call, position: int | None, *names: str) -> list[str]:
    """`name=...` for Probe from the tracker's own argument, where it may be written twice."""
    value = argument(call, position, *names)
    if value is None or not repeatable(value) or (isinstance(value, ast.Constant) and value.value is None):
        return []
    return [f"name={module.code(value)}"]


def config_argument(
    context: Context, tracker: Tracker, module: Module, call: ast.Call, methods: Iterable[str] = ()
) -> list[str]:
    """`config=...`: what one of the methods is given right below the opening, else the script's own configuration."""
    from instrument.plan.opening import settling

    wanted = set(methods)
    for stmt in settling(context, tracker, module, call)[1:]:
        value = stmt.value if isinstance(stmt, (ast.Expr, ast.Assign)) else None
        target = stmt.targets[0] if isinstance(stmt, ast.Assign) else None
        if isinstance(target, ast.Subscript) and "[]" in wanted:
            if value is not None and names_settings(target.slice) and _config_like(value):
                return [f"config={module.code(value)}"]
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in wanted:
            given = value.args[0] if value.args else None
            if given is not None and _config_like(given):
                return [f"config={module.code(given)}"]
    found = config_at(context, module, call)
    return [f"config={found}"] if found else []


def names_settings(key: ast.expr | None) -> bool:
    """Whether a path such as "parameters/lr", or one that ends in "hparams", holds settings or facts, not results."""
    if isinstance(key, ast.JoinedStr):
        last = key.values[-1] if key.values else None
        return isinstance(last, ast.Constant) and str(last.value).rpartition("/")[2].lower() in _SETTINGS
    if not isinstance(key, ast.Constant):
        return False
    parts = str(key.value).lower().split("/")
    return parts[0] in _SETTINGS or parts[-1] in _SETTINGS


def _config_like(value: ast.expr) -> bool:
    """`args`, `cfg.train`, `vars(args)`: a mapping or namespace that is named."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("vars", "dict", "asdict"):
        return len(value.args) == 1 and not value.keywords and _config_like(value.args[0])
    return isinstance(value, (ast.Name, ast.Attribute)) and repeatable(value)


def set_below(context: Context, tracker: Tracker, module: Module, call: ast.Call, attribute: str) -> ast.expr | None:
    """What is assigned to an attribute, or given to a method, of the run right below its opening (`run.name = "x"`)."""
    from instrument.plan.opening import settling

    for stmt in settling(context, tracker, module, call)[1:]:
        if isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Attribute):
            if stmt.targets[0].attr == attribute and repeatable(stmt.value):
                return stmt.value
        elif isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call):
            func = stmt.value.func
            if isinstance(func, ast.Attribute) and func.attr == attribute and stmt.value.args:
                return stmt.value.args[0] if repeatable(stmt.value.args[0]) else None
    return None


def disabled_mode(module: Module, flag: ast.expr | None) -> list[str]:
    """`mode=...` for Probe where the tracker is switched off by a flag (`disabled=not args.track`)."""
    if flag is None:
        return []
    if isinstance(flag, ast.Constant):
        return ['mode="disabled"'] if flag.value else []
    if isinstance(flag, ast.UnaryOp) and isinstance(flag.op, ast.Not) and repeatable(flag.operand):
        return [f'mode=None if {module.code(flag.operand)} else "disabled"']
    return [f'mode="disabled" if {module.code(flag)} else None'] if repeatable(flag) else []
