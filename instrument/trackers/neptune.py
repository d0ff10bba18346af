"""Neptune's client 1 (`neptune.new` before it): `run["train/loss"].append(value, step=)`, log, extend, assignments.

neptune 1.14.0 (`handler.py`, `attributes/series/series.py`): a key is the path of the brackets, joined with `/`.
Without a step a series counts by itself. What is assigned is one value: a number is a metric unless its path is that of
settings.
The legacy client's `log_metric(name, x, y)` (before 1.0, `neptune.legacy`) takes x as the step where y is given.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.emission import Ask, Emission, Left, Opening, Tracker, Used
from instrument.plan.place import argument, has_splat
from instrument.plan.rules import Rule
from instrument.plan.series_keys import joined
from instrument.trackers._reading import config_argument, name_argument, names_settings

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

OPENS = (
    "neptune.init_run", "neptune.Run", "neptune.metadata_containers.Run", "neptune.new.init_run", "neptune.new.init",
    "neptune.new.Run", "neptune.init",
)  # fmt: skip
RUNS = tuple(f"{name}()" for name in OPENS)
LEGACY = ("neptune", "neptune.legacy", "neptune.create_experiment()", "neptune.legacy.create_experiment()")

_Path = list[ast.expr]


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    given = name_argument(module, call, None, "name", "custom_run_id")
    mode = argument(call, None, "mode")
    if isinstance(mode, ast.Constant) and mode.value in ("debug", "offline"):
        given.append(f'mode="{"disabled" if mode.value == "debug" else "offline"}"')
    elif isinstance(mode, (ast.Name, ast.Attribute)):
        given.append(f'mode="disabled" if {module.code(mode)} == "debug" else None')
    return [*given, *config_argument(context, TRACKER, module, call, ("[]",))]


def _read_only(context: Context, module: Module, call: ast.Call) -> str | None:
    mode = argument(call, None, "mode")
    return "an old run is only read here" if isinstance(mode, ast.Constant) and mode.value == "read-only" else None


def _path(context: Context, module: Module, node: ast.expr) -> _Path | Ask:
    """The keys of `run["a"]["b"]`, those of a namespace that was taken before (`train = run["train"]`) included."""
    keys: _Path = []
    while isinstance(node, ast.Subscript):
        keys.insert(0, node.slice)
        node = node.value
    names = context.program.resolve(module, node)
    if names & set(RUNS):
        return keys
    value = _only_value(module, node)
    if isinstance(value, ast.Subscript):
        before = _path(context, module, value)
        if not isinstance(before, Ask) and all(isinstance(key, ast.Constant) for key in before):
            return [*before, *keys]
    return Ask("the namespace that it belongs to was made elsewhere")


def _only_value(module: Module, node: ast.expr) -> ast.expr | None:
    """What a name is assigned, where that is done once in its scope."""
    if not isinstance(node, ast.Name):
        return None
    found = module.lookup(module.scope_of(node, inner=False), node.id)
    values = [b.node for b in found[1]] if found else []
    return values[0] if len(values) == 1 and isinstance(values[0], ast.expr) else None


def _key(path: _Path, texts: list[str]) -> str:
    return joined(list(zip(path, texts)))


def _series(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`handler.append(value, step=None)`, `handler.log(value, step=None)`, `handler.extend(values, steps=None)`."""
    assert isinstance(call.func, ast.Attribute)
    value = argument(call, 0, "value", "values")
    if value is None or has_splat(call):
        return Ask("its arguments are passed on by * or **")
    path = _path(context, module, call.func.value)
    if isinstance(path, Ask):
        return path
    if _is_file(context, module, value):
        return Left("media has no counterpart")
    if isinstance(value, ast.Name) and value.id.startswith("__"):
        return Left("no number")
    step = argument(call, None, "step", "steps")
    if isinstance(step, ast.Constant) and step.value is None:
        step = None
    uses = [*(Used(part, "key") for part in path), Used(value, "value")]
    if step is not None:
        uses.append(Used(step, "step"))
    many = call.func.attr == "extend" or isinstance(value, (ast.Dict, ast.List, ast.Tuple))
    at = f", step={{{len(path) + 1}}}" if step is not None else ""
    return Emission(
        uses=tuple(uses),
        text=lambda t: f"{{{_key(path, t)}: {t[len(path)]}}}" + at.format(*t),
        method="log_each" if step is None or many else "log",
    )


def _assigned(context: Context, module: Module, stmt: ast.Assign) -> Emission | Left | Ask:
    """`run["test/accuracy"] = accuracy`."""
    target = stmt.targets[0]
    if not isinstance(target, ast.Subscript):
        return Left("an attribute of the run")
    return _one_value(context, module, target, stmt.value)


def _assign(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`run["test/accuracy"].assign(accuracy)`."""
    assert isinstance(call.func, ast.Attribute)
    value = argument(call, 0, "value")
    return Ask("its arguments are passed on by * or **") if value is None else (
        _one_value(context, module, call.func.value, value)
    )  # fmt: skip


def _one_value(context: Context, module: Module, target: ast.expr, value: ast.expr) -> Emission | Left | Ask:
    path = _path(context, module, target)
    if isinstance(path, Ask):
        return path
    first = path[0] if path else None
    if names_settings(first):
        return Left("parameters are the run's config, which is taken when it opens")
    if isinstance(value, ast.Name) and value.id.startswith("__"):
        return Left("no number")
    if not _may_be_number(_only_value(module, value) or value) or _is_file(context, module, value):
        return Left("no number")
    return Emission(
        uses=(*(Used(part, "key") for part in path), Used(value, "value")),
        text=lambda t: f"{{{_key(path, t)}: {t[len(path)]}}}",
        method="log_each",
    )


def _may_be_number(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (int, float)) and not isinstance(value.value, bool)
    if isinstance(value, ast.Call):
        last = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return last not in ("dict", "vars", "asdict", "str", "repr", "stringify_unsupported", "to_dict", "File", "join")
    return isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.IfExp))


def _is_file(context: Context, module: Module, value: ast.expr) -> bool:
    names = context.program.resolve(module, value.func if isinstance(value, ast.Call) else value)
    return any(".File" in name for name in names)


def _legacy(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`log_metric(log_name, x, y=None)`: without y, x is the value."""
    name, x, y = argument(call, 0, "log_name", "channel_name"), argument(call, 1, "x"), argument(call, 2, "y")
    if name is None or x is None or has_splat(call):
        return Ask("its arguments are passed on by * or **")
    if y is None:
        return Emission(
            uses=(Used(name, "key"), Used(x, "value")), text=lambda t: f"{{{t[0]}: {t[1]}}}", method="log_each"
        )
    return Emission(
        uses=(Used(name, "key"), Used(x, "step"), Used(y, "value")), text=lambda t: f"{{{t[0]}: {t[2]}}}, step={t[1]}"
    )


def _legacy_arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    params = argument(call, 2, "params")
    config = [f"config={module.code(params)}"] if isinstance(params, (ast.Name, ast.Attribute)) else []
    return [*name_argument(module, call, 0, "name"), *(config or config_argument(context, TRACKER, module, call))]


#: How deep `run["a"]["b"]["c"]` goes.
HANDLERS = tuple(run + "[]" * depth for run in RUNS for depth in (1, 2, 3))
_LEFT = {
    **dict.fromkeys(("upload", "upload_files", "track_files", "delete_files"), "files stay with Neptune"),
    **dict.fromkeys(("add", "remove"), "tags have no counterpart in a running run"),
}

TRACKER = Tracker(
    name="neptune",
    title="Neptune",
    packages=frozenset({"neptune"}),
    # Lists have `append` and `extend` too: only files that import it are looked at.
    needles=(b"import neptune", b"from neptune", b'"neptune"', b"'neptune'"),
    opens={
        **{name: Opening(arguments=_arguments, skip=_read_only) for name in OPENS if name != "neptune.init"},
        **{f"{root}.create_experiment": Opening(arguments=_legacy_arguments, ambient=lambda module, call: "")
           for root in ("neptune", "neptune.legacy")},
    },
    emits={
        **{f"{handler}.{name}": _series for handler in HANDLERS for name in ("append", "log", "extend")},
        **{f"{handler}.assign": _assign for handler in HANDLERS},
        **{f"{root}.{name}": _legacy for root in LEGACY for name in ("log_metric", "send_metric")},
    },
    closes=frozenset({"neptune.stop", "neptune.legacy.stop", *(f"{run}.stop" for run in (*RUNS, *LEGACY))}),
    closes_with_code=False,
    leaves={
        **{f"{handler}.{name}": why for handler in HANDLERS for name, why in _LEFT.items()},
        **{f"{run}.assign": "several values at once, most of them settings" for run in RUNS},
        **{f"{root}.{name}": why for root in LEGACY for name, why in {
            "log_image": "media has no counterpart", "send_image": "media has no counterpart",
            "log_text": "text has no counterpart", "send_text": "text has no counterpart",
            "log_artifact": "files stay with Neptune", "send_artifact": "files stay with Neptune",
            "set_property": "notes on the run stay with Neptune", "append_tag": "tags have no counterpart",
            "append_tags": "tags have no counterpart"}.items()},
    },
    items=dict.fromkeys((*RUNS, *(run + "[]" for run in RUNS)), _assigned),
    settles=frozenset(RUNS),
)  # fmt: skip

RULE = Rule(
    name="neptune", title="Neptune", needles=TRACKER.needles, plan=partial(plan_tracker, tracker=TRACKER), order=255
)
