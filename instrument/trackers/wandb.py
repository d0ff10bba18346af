"""Weights & Biases called by the repository's own code: `wandb.init`, `wandb.log`, run handles, sweeps.

Steps are those that W&B records: an explicit step after the call, W&B's own count read before it (wandb 0.31: a row
without a step takes `wandb.run.step`, which moves on when the row is committed). Axes declared by `define_metric` go
to Probe's `init` and are honoured there per key.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.bind import repeatable
from instrument.plan.emission import Ask, Emission, Left, Opening, Tracker, Used, mapping_call
from instrument.plan.place import argument, has_splat
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

#: How a run can be reached: what `init` gives, the module's current run, an annotated parameter.
SETUP = ("ray.air.integrations.wandb.setup_wandb", "ray.air.integrations.wandb.wandb.setup_wandb")
RUNS = (
    "wandb.init()", "wandb.run", "wandb.Run()", "wandb.sdk.wandb_run.Run()", "wandb.wandb_run.Run()",
    *(f"{name}()" for name in SETUP),
)  # fmt: skip

#: Objects that W&B shows and Probe has no counterpart for.
MEDIA = frozenset(
    f"wandb.{name}()"
    for name in "Image Audio Video Table Histogram Html Object3D Molecule Plotly Graph Artifact".split()
)

_read_row = mapping_call(0, ("data",), 1, commit=(2, "commit"))


def _row(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`log(data, step=None, commit=None)`; a row of nothing but media is left."""
    data = argument(call, 0, "data")
    read = _read_row(context, module, call)
    if isinstance(data, ast.DictComp) and is_media(context, module, data.value):
        return Left("media only: Probe takes numbers")
    if not isinstance(data, ast.Dict) or not data.values:
        return read
    media = [is_media(context, module, value) for value in data.values]
    if all(media):
        return Left("media only: Probe takes numbers")
    if any(media) and isinstance(read, Emission):
        return _without_media(data, media, read)
    return read


def _without_media(data: ast.Dict, media: list[bool], read: Emission) -> Emission:
    """`{"loss": loss, "samples": wandb.Table(...)}`: the numbers alone, where they can be written again as they are."""
    numbers = [pair for pair, shown in zip(zip(data.keys, data.values), media) if not shown]
    parts = [part for pair in numbers for part in pair]
    if not all(part is not None and repeatable(part) for part in parts):
        return read
    uses = tuple(Used(part, "value") for part in parts if part is not None)

    def text(texts: list[str]) -> str:
        pairs = zip(texts[0 : len(uses) : 2], texts[1 : len(uses) : 2])
        row = "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"
        return read.text([row, *texts[len(uses) :]])

    return replace(read, uses=(*uses, *read.uses[1:]), text=text)


def is_media(context: Context, module: Module, value: ast.expr) -> bool:
    """Whether a value is a picture, a table or the like, or a list of such."""
    if isinstance(value, (ast.List, ast.Tuple)) and value.elts:
        return all(is_media(context, module, v) for v in value.elts)
    if isinstance(value, ast.ListComp):
        return is_media(context, module, value.elt)
    if isinstance(value, ast.Call):
        names = context.program.resolve(module, value.func)
        if any(f"{name}()" in MEDIA or name.startswith("wandb.plot.") for name in names):
            return True
    if not isinstance(value, (ast.Name, ast.Attribute, ast.Call)):
        return False
    inside = context.program.elements(module, value)
    return bool(context.program.resolve(module, value) & MEDIA) or (bool(inside) and inside <= MEDIA)


def _ambient(module: Module, call: ast.Call) -> str | None:
    """`wandb.run`, by the name this file has for the module."""
    func = call.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, (ast.Name, ast.Attribute)):
        return f"{module.code(func.value)}.run"
    return None


def _from_tensorboard(context: Context, module: Module, call: ast.Call) -> None:
    """Say where W&B reads its metrics from TensorBoard's files, and who writes them is not in this repository.

    A framework that got Probe's callback sends the same metrics through that.
    """
    synced = argument(call, None, "sync_tensorboard")
    on = isinstance(synced, ast.Constant) and synced.value is True
    on = on or (has_splat(call) and _SYNCED.search(module.text) is not None)
    if on and not context.opened_elsewhere and not any(map(_writes, context.modules(b"SummaryWriter", b"file_writer"))):
        context.note(
            "question", "synced-from-tensorboard", "W&B takes this run's metrics from TensorBoard files that a framework "
            "writes; Probe gets what is logged by calls alone", path=module.path, line=call.lineno,
        )  # fmt: skip


#: The setting in a dictionary that is spread into the call (skrl 0.10 to 2.1).
_SYNCED = re.compile(r"""["']sync_tensorboard["']\s*(?:,|:|\]\s*=)\s*True""")


def _writes(module: Module) -> bool:
    """Whether a file takes a writer whose calls are mirrored; a class of the repository's own may be called so as well."""
    data = module.source.data
    return any(word in data for word in (b"torch.utils", b"tensorboardX", b"create_file_writer"))


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    """Name and config come from the run once it is open: sweeps and overrides are in it by then."""
    given: list[str] = []
    _from_tensorboard(context, module, call)
    if handle is not None:
        # Beside a bare `wandb.init()` the module itself stands for the run: wandb.run.name, wandb.config.
        owner = handle.removesuffix(".run") if handle == _ambient(module, call) else handle
        given = [f"name={handle}.name", f"config=dict({owner}.config)"]
    mode = argument(call, None, "mode")
    if mode is not None and _plain_choice(mode) and not (isinstance(mode, ast.Constant) and mode.value not in _MODES):
        given.append(f"mode={module.code(mode)}")
    axes = _axes(context, module)
    if axes:
        context.tracking.alias(module, "axes")
        given.append("axes={" + ", ".join(f'"{key}": "{axis}"' for key, axis in axes.items()) + "}")
    return given


#: The modes that W&B and Probe both have; what a name stands for is the module's to look at.
_MODES = ("disabled", "offline", "online")


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
            names = _written_names(other, call, name)
            if names and isinstance(axis, ast.Constant):
                axes.update((key, str(axis.value)) for key in names)
            else:
                context.note(
                    "question", "dynamic-axis", "define_metric gets a name or an axis that is not written out; "
                    "Probe plots these keys against the call's own step", path=other.path, line=call.lineno,
                )  # fmt: skip
    return axes


def _written_names(module: Module, call: ast.Call, name: ast.expr | None) -> list[str]:
    """The keys that a name stands for: itself, or each of a written-out list that a loop goes over."""
    if isinstance(name, ast.Constant):
        return [str(name.value)]
    loop = module.parent(module.statement(call))
    if not isinstance(name, ast.Name) or not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
        return []
    if loop.target.id != name.id or not isinstance(loop.iter, (ast.List, ast.Tuple)):
        return []
    keys = [item.value for item in loop.iter.elts if isinstance(item, ast.Constant)]
    return list(map(str, keys)) if len(keys) == len(loop.iter.elts) else []


def _left(why: str) -> Callable[[Context, Module, ast.Assign], Left]:
    return lambda context, module, stmt: Left(why)


_ARTIFACTS = (
    "log_artifact", "use_artifact", "upsert_artifact", "finish_artifact", "link_artifact", "log_model", "use_model",
    "link_model",
)  # fmt: skip

#: What can be asked of the module and of each run, and has no counterpart.
LEFT = {
    "watch": "gradients and parameters are W&B's own pictures",
    "unwatch": "gradients and parameters are W&B's own pictures",
    "alert": "alerts have no counterpart",
    "save": "files stay with W&B",
    "restore": "files stay with W&B",
    "write_logs": "console output stays with W&B",
    "log_code": "code snapshots stay with W&B",
    "mark_preempting": "preemption is W&B's own bookkeeping",
    **dict.fromkeys(_ARTIFACTS, "artifacts stay with W&B"),
    "plot_table": "media has no counterpart",
    "summary.update": "summaries are Probe's own, made from the series",
    "config.update": "the config is taken when the run opens",
    "config.setdefaults": "the config is taken when the run opens",
}  # fmt: skip
_ROOTS = ("wandb", *RUNS)

TRACKER = Tracker(
    name="wandb",
    title="W&B",
    packages=frozenset({"wandb"}),
    needles=(b"wandb",),
    parts=("core", "wandb"),
    opens={
        "wandb.init": Opening(arguments=_arguments, ambient=_ambient),
        **{name: Opening(arguments=_arguments) for name in SETUP},
    },
    emits={f"{root}.log": _row for root in _ROOTS},
    closes=frozenset({"wandb.join", *(f"{root}.finish" for root in _ROOTS)}),
    leaves={f"{root}.{name}": why for root in _ROOTS for name, why in LEFT.items()},
    items={
        **{f"{root}.summary": _left(LEFT["summary.update"]) for root in _ROOTS},
        **{f"{root}.config": _left(LEFT["config.update"]) for root in _ROOTS},
    },
    settles=frozenset(
        f"{root}.{name}" for root in _ROOTS for name in ("config", "config.update", "name", "notes", "tags")
    ),
)

RULE = Rule(name="wandb", title="W&B", needles=TRACKER.needles, plan=partial(plan_tracker, tracker=TRACKER), order=200)
