"""Aim: Run, and track for one value or a mapping of them.

aim 3.29.1 (`sdk/run.py`, `sdk/tracker.py`): `track(value, name=None, step=None, epoch=None, *, context=None)`; a
sequence is a name in a context, so `context={"subset": "train"}` and "loss" are `train/loss` here. Without a step each
sequence takes the one after its last; for a mapping that is the first name's.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.bind import repeatable
from instrument.plan.emission import Ask, Emission, Left, Opening, Tracker, Used
from instrument.plan.place import argument, has_splat
from instrument.plan.rules import Rule
from instrument.plan.series_keys import joined, prefixed
from instrument.trackers._reading import config_argument, set_below

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

OPENS = ("aim.Run", "aim.sdk.Run", "aim.sdk.run.Run")
RUNS = tuple(f"{name}()" for name in OPENS)
_MEDIA = frozenset(f"aim.{name}" for name in ("Image", "Audio", "Distribution", "Figure", "Text"))


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    name = set_below(context, TRACKER, module, call, "name")
    given = [f"name={module.code(name)}"] if name is not None else []
    return [*given, *config_argument(context, TRACKER, module, call, ("[]",))]


def _read_only(context: Context, module: Module, call: ast.Call) -> str | None:
    flag = argument(call, None, "read_only")
    if isinstance(flag, ast.Constant) and flag.value:
        return "an old run is only read here"
    return None


def _track(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    value, name = argument(call, 0, "value"), argument(call, 1, "name")
    if value is None or has_splat(call):
        return Ask("its arguments are passed on by * or **")
    if _is_media(context, module, value):
        return Left("media has no counterpart")
    labels = _labels(argument(call, None, "context"))
    if isinstance(labels, Ask):
        return labels
    uses = [Used(value, "value" if name is not None else "metrics"), *(Used(part, "context") for part in labels)]
    if name is not None:
        uses.append(Used(name, "key"))
    step, method = argument(call, 2, "step"), "log"
    if step is None or (isinstance(step, ast.Constant) and step.value is None):
        at, method = "", "log_each"
    else:
        at = f", step={{{len(uses)}}}"
        uses.append(Used(step, "step"))

    def text(texts: list[str]) -> str:
        parts: list[tuple[ast.expr | str, str]] = [(part, texts[1 + n]) for n, part in enumerate(labels)]
        if name is not None:
            row = f"{{{joined([*parts, (name, texts[1 + len(labels)])])}: {texts[0]}}}"
        elif parts:
            written = [str(e.value) if isinstance(e, ast.Constant) else f"{{{t}}}" for e, t in parts]
            row = prefixed("/".join(written) + "/", texts[0])
        else:
            row = texts[0]
        return row + at.format(*texts)

    return Emission(uses=tuple(uses), text=text, method=method)


def _labels(context: ast.expr | None) -> list[ast.expr] | Ask:
    """The values of a context, in order, where it is written out and they may be read twice."""
    if context is None or (isinstance(context, ast.Constant) and context.value is None):
        return []
    if not isinstance(context, ast.Dict) or None in context.keys:
        return Ask("its context is not written out, and the context is part of the metric's name")
    if not all(isinstance(v, (ast.Constant, ast.Name, ast.Attribute)) and repeatable(v) for v in context.values):
        return Ask("its context is computed in the call, and the context is part of the metric's name")
    return context.values


def _is_media(context: Context, module: Module, value: ast.expr) -> bool:
    if isinstance(value, (ast.List, ast.Tuple)):
        return True
    names = context.program.resolve(module, value.func if isinstance(value, ast.Call) else value)
    return bool({name.removesuffix("()") for name in names} & _MEDIA)


def _config(context: Context, module: Module, stmt: ast.Assign) -> Left:
    return Left("parameters are the run's config, which is taken when it opens")


_LEFT = {
    **dict.fromkeys(("log_artifact", "log_artifacts"), "files stay with Aim"),
    **dict.fromkeys(("log_info", "log_warning", "log_error", "log_debug"), "messages stay with Aim"),
    "add_tag": "tags have no counterpart in a running run",
    "set": "parameters are the run's config",
}

TRACKER = Tracker(
    name="aim",
    title="Aim",
    packages=frozenset({"aim"}),
    needles=(b"import aim", b"from aim", b'("aim"', b"('aim'"),
    opens={name: Opening(arguments=_arguments, skip=_read_only) for name in OPENS},
    emits={f"{run}.track": _track for run in RUNS},
    closes=frozenset(f"{run}.close" for run in RUNS),
    closes_with_code=False,
    leaves={f"{run}.{name}": why for run in RUNS for name, why in _LEFT.items()},
    items=dict.fromkeys(RUNS, _config),
    settles=frozenset({*RUNS, *(f"{run}.{name}" for run in RUNS for name in ("name", "description"))}),
)

RULE = Rule(name="aim", title="Aim", needles=TRACKER.needles, plan=partial(plan_tracker, tracker=TRACKER), order=260)
