"""Weights & Biases called by the repository's own code: `wandb.init`, `wandb.log`, run handles, sweeps.

Steps are those that W&B records: an explicit step after the call, W&B's own count read before it (wandb 0.31: a row
without a step takes `wandb.run.step`, which moves on when the row is committed). Axes declared by `define_metric` go
to Probe's `init` and are honoured there per key.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.bind import repeatable
from instrument.plan.emission import Ask, Emission, Left, Opening, Tracker, mapping_call
from instrument.plan.place import argument
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

#: How a run can be reached: what `init` gives, the module's current run, an annotated parameter.
RUNS = ("wandb.init()", "wandb.run", "wandb.Run()", "wandb.sdk.wandb_run.Run()", "wandb.wandb_run.Run()")

#: Objects that W&B shows and Probe has no counterpart for.
MEDIA = frozenset(
    f"wandb.{name}()"
    for name in "Image Audio Video Table Histogram Html Object3D Molecule Plotly Graph Artifact".split()
)

_read_row = mapping_call(0, ("data",), 1, commit=(2, "commit"))


def _row(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`log(data, step=None, commit=None)`; a row of nothing but media is left."""
    data = argument(call, 0, "data")
    if isinstance(data, ast.Dict) and data.values and all(_is_media(context, module, v) for v in data.values):
        return Left("media only: Probe takes numbers")
    return _read_row(context, module, call)


def _is_media(context: Context, module: Module, value: ast.expr) -> bool:
    if isinstance(value, (ast.List, ast.Tuple)) and value.elts:
        return all(_is_media(context, module, v) for v in value.elts)
    if isinstance(value, ast.ListComp):
        return _is_media(context, module, value.elt)
    if isinstance(value, ast.Call):
        names = context.program.resolve(module, value.func)
        return any(f"{name}()" in MEDIA or name.startswith("wandb.plot.") for name in names)
    return isinstance(value, ast.Name) and bool(context.program.resolve(module, value) & MEDIA)


def _ambient(module: Module, call: ast.Call) -> str | None:
    """`wandb.run`, by the name this file has for the module."""
    func = call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, (ast.Name, ast.Attribute)):
        return f"{module.code(func.value)}.run"
    return None


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    """Name and config come from the run once it is open: sweeps and overrides are in it by then."""
    given: list[str] = []
    if handle is not None:
        # Beside a bare `wandb.init()` the module itself stands for the run: wandb.run.name, wandb.config.
        owner = handle.removesuffix(".run") if handle == _ambient(module, call) else handle
        given = [f"name={handle}.name", f"config=dict({owner}.config)"]
    mode = argument(call, None, "mode")
    if mode is not None and _plain_choice(mode):
        given.append(f"mode={module.code(mode)}")
    axes = _axes(context, module)
    if axes:
        context.tracking.alias(module, "axes")
        given.append("axes={" + ", ".join(f'"{key}": "{axis}"' for key, axis in axes.items()) + "}")
    return given


def _plain_choice(node: ast.expr) -> bool:
    """A mode that can be asked for twice: a constant, a name, or a choice between such."""
    if isinstance(node, ast.IfExp):
        return all(map(_plain_choice, (node.test, node.body, node.orelse)))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) and _plain_choice(node.operand)
    if isinstance(node, ast.Compare):
        return all(map(repeatable, [node.left, *node.comparators]))
    return repeatable(node)


def _axes(context: Context, module: Module) -> dict[str, str]:
    """The step metric that `define_metric` names for each key or pattern, where both are written out."""
    axes: dict[str, str] = {}
    for other in [module, *context.modules(b"define_metric")]:
        if axes:
            break  # a file's own declarations win over those of its helpers
        for call in other.calls():
            func = call.func
            if not isinstance(func, ast.Attribute) or func.attr != "define_metric":
                continue
            name, axis = argument(call, 0, "name"), argument(call, 1, "step_metric")
            if axis is None:
                continue
            if isinstance(name, ast.Constant) and isinstance(axis, ast.Constant):
                axes[str(name.value)] = str(axis.value)
            else:
                context.note(
                    "question", "dynamic-axis", "define_metric gets a name or an axis that is not written out; "
                    "Probe plots these keys against the call's own step", path=other.path, line=call.lineno,
                )  # fmt: skip
    return axes


TRACKER = Tracker(
    name="wandb",
    title="W&B",
    packages=frozenset({"wandb"}),
    needles=(b"wandb",),
    parts=("core", "wandb"),
    opens={"wandb.init": Opening(arguments=_arguments, ambient=_ambient)},
    emits={"wandb.log": _row, **{f"{run}.log": _row for run in RUNS}},
    closes=frozenset({"wandb.finish", "wandb.join", *(f"{run}.finish" for run in RUNS)}),
    leaves={
        **{
            f"{root}.{name}": why
            for root in ("wandb", *RUNS)
            for name, why in {
                "watch": "gradients and parameters are W&B's own pictures",
                "alert": "alerts have no counterpart",
                "log_artifact": "artifacts stay with W&B",
                "save": "files stay with W&B",
                "log_code": "code snapshots stay with W&B",
            }.items()
        },
    },
    rank=10,
)

RULE = Rule(name="wandb", title="W&B", needles=TRACKER.needles, plan=partial(plan_tracker, tracker=TRACKER), order=200)
