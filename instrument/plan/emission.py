"""What a tracker tells the alongside strategy about its calls, as data."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from instrument.plan.place import argument, has_splat

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module


@dataclass(frozen=True, slots=True)
class Used:
    """An argument of a tracker's call that Probe's call needs as well.

    `base` is the name it is bound to when it may not be evaluated twice ("metrics", "step").
    """

    expr: ast.expr
    base: str = "metrics"


@dataclass(frozen=True, slots=True, kw_only=True)
class Emission:
    """How one tracker call becomes a `log` call: which arguments it uses, and its text once each has a text.

    `automatic`: the tracker decides the step itself, so the row is sent before the tracker's call moves on.
    """

    uses: tuple[Used, ...]
    text: Callable[[list[str]], str]
    automatic: bool = False
    #: "log", or "log_each" where the tracker counts each metric by itself (that function is in the part "series").
    method: str = "log"


@dataclass(frozen=True, slots=True)
class Left:
    """The call has nothing to mirror, and why (media only, no counterpart)."""

    why: str


@dataclass(frozen=True, slots=True)
class Ask:
    """The call can't be read (`log(*args)`): a person must look."""

    why: str
    code: str = "unreadable-call"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How a run is opened: the arguments of `probe.init`, given the text that stands for the tracker's run.

    `handle` is a text such as "run" or "wandb.run", or None where there is none: then the call's own arguments serve.
    """

    arguments: Callable[[Context, Module, ast.Call, str | None], list[str]]
    #: The text by which the open run is reached when the call's result is not kept ("wandb.run"), from the call's func.
    ambient: Callable[[Module, ast.Call], str | None] = lambda module, call: None
    #: Whether the call gives a handle that can be bound to a name (`run = wandb.init()`).
    gives_handle: bool = True
    #: What the run is called where it must be bound to a name.
    kept_as: str = "run"
    #: Why no run is opened beside this one after all ("W&B opens the run"), or None.
    skip: Callable[[Context, Module, ast.Call], str | None] = lambda context, module, call: None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracker:
    """An existing tracker: its calls by qualified name (see `repo/names.py` for the grammar)."""

    name: str
    title: str
    #: The top-level packages it is imported from; the new import stands beside theirs.
    packages: frozenset[str]
    needles: tuple[bytes, ...]
    opens: Mapping[str, Opening]
    emits: Mapping[str, Callable[[Context, Module, ast.Call], Emission | Left | Ask]]
    closes: frozenset[str]
    #: Calls with no counterpart, and why; listed in the report.
    leaves: Mapping[str, str] = field(default_factory=dict)
    #: Objects that are assigned to (`run["loss"] = x`, `wandb.summary["best"] = x`, `wandb.config.lr = x`).
    items: Mapping[str, Callable[[Context, Module, ast.Assign], Emission | Left | Ask]] = field(default_factory=dict)
    #: Calls and assigned objects that complete an opening when they stand right below it (`wandb.config.update(...)`).
    settles: frozenset[str] = frozenset()
    #: Parts of the generated module that it needs.
    parts: tuple[str, ...] = ("core",)
    #: Whether a closing call's first argument is an exit code (`wandb.finish(1)`); else only `exit_code=` is one.
    closes_with_code: bool = True
    #: Whether it is left to any other tracker of its file, unless its keys are seen to be its own.
    gives_way: Callable[[Module], bool] = lambda module: False


def terminals(tracker: Tracker) -> frozenset[str]:
    """The last parts of all the tracker's names: what a call must end in to be looked at."""
    names = [*tracker.opens, *tracker.emits, *tracker.closes, *tracker.leaves]
    return frozenset(last_part(name) for name in names)


def last_part(name: str) -> str:
    """The last part of a qualified name, without what is called or taken from it."""
    return name.removesuffix("()").rsplit(".", 1)[-1]


def handles(tracker: Tracker) -> frozenset[str]:
    """The objects that metrics are sent through: `wandb`, `wandb.run`, `wandb.init()`."""
    return frozenset(name.rpartition(".")[0].rstrip("[]") for name in tracker.emits)


def mapping_call(
    metrics_position: int, metrics_name: tuple[str, ...], step_position: int | None, *,
    step_name: tuple[str, ...] = ("step",), commit: tuple[int | None, str] | None = None, missing_step: str = "",
    automatic: bool = True,
) -> Callable[[Context, Module, ast.Call], Emission | Left | Ask]:  # fmt: skip
    """The reading of `log(metrics, step)` calls: a mapping of metrics, an optional step, an optional commit flag.

    `missing_step` is the text passed where no step is given ("" where the tracker counts by itself); `automatic` says
    whether that count moves with the tracker's own call.
    """

    def read(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
        metrics = argument(call, metrics_position, *metrics_name)
        rest = own_keywords(module, call)
        if metrics is None or (has_splat(call) and rest is None):
            return Ask("its arguments are passed on by * or **")
        step = argument(call, step_position, *step_name)
        held = argument(call, commit[0], commit[1]) if commit else None
        uses = [Used(metrics)]
        extra: list[str] = []
        if step is not None and not _is_none(step):
            extra.append(f"step={{{len(uses)}}}")
            uses.append(Used(step, "step"))
        elif missing_step:
            extra.append(f"step={missing_step}")
        if held is not None and not _is_none(held):
            extra.append(f"commit={{{len(uses)}}}")
            uses.append(Used(held, "commit"))
        if rest is not None:
            # A wrapper's own keywords: those that Probe has as well are taken out of them.
            if step is None:
                extra.append(f'step={rest}.get("{step_name[0]}")')
            if commit is not None and held is None:
                extra.append(f'commit={rest}.get("{commit[1]}")')
        counted = automatic and (step is None or held is not None or _may_be_none(module, step))
        return Emission(
            uses=tuple(uses),
            automatic=counted,
            text=lambda texts: ", ".join([texts[0], *(e.format(*texts) for e in extra)]),
        )

    return read


def own_keywords(module: Module, call: ast.Call) -> str | None:
    """The name of the `**keywords` that a call passes on, where they are all that its own function was given."""
    function = module.function(call)
    if any(isinstance(a, ast.Starred) for a in call.args) or not isinstance(
        function, (ast.FunctionDef, ast.AsyncFunctionDef)
    ):
        return None
    splats = [keyword.value for keyword in call.keywords if keyword.arg is None]
    own = function.args.kwarg.arg if function.args.kwarg is not None else None
    if len(splats) != 1 or not isinstance(splats[0], ast.Name) or splats[0].id != own:
        return None
    return own


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _may_be_none(module: Module, step: ast.expr) -> bool:
    """Whether a step may turn out to be None, so that the tracker counts by itself: `def log(metrics, step=None)`."""
    if _is_none(step) or isinstance(step, (ast.IfExp, ast.BoolOp)):
        return True
    if isinstance(step, ast.Call):
        return isinstance(step.func, ast.Attribute) and step.func.attr == "get"
    function = module.function(step)
    if not isinstance(step, ast.Name) or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip((a.arg for a in reversed(positional)), reversed(arguments.defaults)))
    defaults.update({a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None})
    default = defaults.get(step.id)
    return default is not None and _is_none(default)


def scalar_call(
    key: tuple[int, tuple[str, ...]], value: tuple[int, tuple[str, ...]], step: tuple[int | None, tuple[str, ...]],
    *, missing_step: str = "0",
) -> Callable[[Context, Module, ast.Call], Emission | Left | Ask]:  # fmt: skip
    """The reading of `log(key, value, step)` calls, sent as a mapping of one item."""

    def read(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
        name, number, at = (
            argument(call, key[0], *key[1]),
            argument(call, value[0], *value[1]),
            argument(call, step[0], *step[1]),
        )
        if name is None or number is None or has_splat(call):
            return Ask("its arguments are passed on by * or **")
        uses = [Used(name, "key"), Used(number, "value")]
        if at is None or _is_none(at):
            return Emission(
                uses=tuple(uses),
                text=lambda t: f"{{{t[0]}: {t[1]}}}" + (f", step={missing_step}" if missing_step else ""),
                automatic=not missing_step,
            )
        uses.append(Used(at, "step"))
        return Emission(uses=tuple(uses), text=lambda t: f"{{{t[0]}: {t[1]}}}, step={t[2]}")

    return read
