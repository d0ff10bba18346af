"""Comet: experiments by any of their classes or `comet_ml.start()`, log_metric and log_metrics.

comet_ml 3.58.8 (`experiment.py`): a metric without a step is at the experiment's `curr_step`, which a call with one
moves and which is None at first: then Probe counts each metric by itself. A metric inside `with experiment.train():` is
named `train_loss`, one with a prefix `prefix_loss`; nested mappings are joined with a dot.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.bind import repeatable
from instrument.plan.emission import Ask, Emission, Left, Opening, Tracker, Used, handles
from instrument.plan.place import argument, has_splat
from instrument.plan.rules import Rule
from instrument.plan.series_keys import inside, joined, prefixed
from instrument.trackers._reading import config_argument, disabled_mode, set_below

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

_CLASSES = ("Experiment", "OfflineExperiment", "ExistingExperiment", "ExistingOfflineExperiment")
_HOMES = {"Experiment": "_online", "ExistingExperiment": "_online"}
OPENS = (
    "comet_ml.start", "comet_ml.comet_start.comet_start.start", *(f"comet_ml.{name}" for name in _CLASSES),
    *(f"comet_ml.{_HOMES.get(name, 'offline')}.{name}" for name in _CLASSES), "comet_ml.experiment.Experiment",
)  # fmt: skip
_OBJECTS = (
    *(f"{name}()" for name in OPENS), "comet_ml.CometExperiment()", "comet_ml.BaseExperiment()",
    "comet_ml.ExperimentBase()", "comet_ml.get_global_experiment()", "comet_ml.get_running_experiment()",
    "comet_ml.config.get_global_experiment()", "comet_ml.Optimizer().get_experiments()[]",
    "comet_ml.Optimizer().next()",
)  # fmt: skip
#: A context gives the experiment: `with experiment.train() as e:`.
EXPERIMENTS = (
    *_OBJECTS, *(f"{run}.{name}()" for run in _OBJECTS for name in ("train", "validate", "test", "context_manager"))
)  # fmt: skip
_CONTEXTS = {"train": "train", "validate": "validate", "test": "test"}


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    name = set_below(context, TRACKER, module, call, "set_name")
    given = [f"name={module.code(name)}"] if name is not None else []
    given += config_argument(context, TRACKER, module, call, ("log_parameters",))
    return [*given, *disabled_mode(module, argument(call, None, "disabled"))]


def _in_context(context: Context, module: Module, node: ast.AST) -> str | Ask | None:
    """The name of the `with experiment.train():` around a call, which is put before the metric's own."""
    child, parent = node, module.parent(node)
    while parent is not None and not isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        if isinstance(parent, ast.With) and not isinstance(child, ast.withitem):
            for item in reversed(parent.items):
                name = _context_name(context, module, item.context_expr)
                if name is not None:
                    return name
        child, parent = parent, module.parent(parent)
    return None


def _context_name(context: Context, module: Module, expr: ast.expr) -> str | Ask | None:
    if not isinstance(expr, ast.Call) or not isinstance(expr.func, ast.Attribute):
        return None
    if not context.program.resolve(module, expr.func.value) & handles(TRACKER):
        return None
    if expr.func.attr != "context_manager":
        return _CONTEXTS.get(expr.func.attr)
    name = argument(expr, 0, "context")
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        return name.value
    return Ask("the context that names it is not written out")


def _elsewhere(context: Context, module: Module, node: ast.AST) -> bool:
    """Whether a function that logs is called inside `with experiment.train():` somewhere."""
    function = module.function(node)
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return any(
        _in_context(context, owner, site) is not None for owner, site in context.program.call_sites(module, function)
    )


def _context_of(context: Context, module: Module, call: ast.Call) -> str | Ask | None:
    flag = argument(call, None, "include_context")
    if isinstance(flag, ast.Constant) and flag.value is False:
        return None
    found = _in_context(context, module, call)
    if found is None and _elsewhere(context, module, call):
        return Ask("it is called inside and outside of an experiment's context, which names the metric")
    return found


def _stepped(call: ast.Call, uses: list[Used], step: ast.expr | None) -> tuple[str, str]:
    """(method, text of the step) with what it uses added to `uses`."""
    if step is not None and not (isinstance(step, ast.Constant) and step.value is None):
        uses.append(Used(step, "step"))
        return "log", f"step={{{len(uses) - 1}}}"
    assert isinstance(call.func, ast.Attribute)
    uses.append(Used(call.func.value, "tracker"))
    return "log_each", f"step={{{len(uses) - 1}}}.curr_step"


def _metric(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`log_metric(name, value, step=None, epoch=None, include_context=True)`."""
    name, value = argument(call, 0, "name"), argument(call, 1, "value")
    if name is None or value is None or has_splat(call) or not isinstance(call.func, ast.Attribute):
        return Ask("its arguments are passed on by * or **")
    around = _context_of(context, module, call)
    if isinstance(around, Ask):
        return around
    uses = [Used(name, "key"), Used(value, "value")]
    method, step = _stepped(call, uses, argument(call, 2, "step"))

    def text(texts: list[str]) -> str:
        key = joined([(around, ""), (name, texts[0])], "_") if around else texts[0]
        return f"{{{key}: {texts[1]}}}, {step.format(*texts)}"

    return Emission(uses=tuple(uses), text=text, method=method)


def _metrics(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`log_metrics(dic, prefix=None, step=None, epoch=None, include_context=True)`."""
    rows, prefix = argument(call, 0, "dic"), argument(call, 1, "prefix")
    if rows is None or has_splat(call) or not isinstance(call.func, ast.Attribute):
        return Ask("its arguments are passed on by * or **")
    around = _context_of(context, module, call)
    if isinstance(around, Ask):
        return around
    if isinstance(prefix, ast.Constant) and prefix.value is None:
        prefix = None
    uses = [Used(rows)]
    if prefix is not None:
        if not repeatable(prefix, role="key") or inside(prefix, module.code(prefix)) is None:
            return Ask("the prefix of its metrics is computed in the call")
        uses.append(Used(prefix, "prefix"))
    method, step = _stepped(call, uses, argument(call, 2, "step"))

    def text(texts: list[str]) -> str:
        parts = [around] if around else []
        if prefix is not None:
            parts.append(inside(prefix, texts[1]) or f"{{{texts[1]}}}")
        row = prefixed("_".join(parts) + "_", texts[0]) if parts else texts[0]
        return f"{row}, {step.format(*texts)}"

    return Emission(uses=tuple(uses), text=text, method=method)


_PARAMETERS = "parameters are the run's config"
_LEFT = {
    **dict.fromkeys(("log_parameter", "log_parameters"), _PARAMETERS),
    **dict.fromkeys(("log_other", "log_others", "add_tag", "add_tags", "set_name"), "notes on the run stay with Comet"),
    **dict.fromkeys(
        ("log_image", "log_audio", "log_video", "log_figure", "log_text", "log_html", "log_html_url", "log_table",
         "log_histogram_3d", "log_confusion_matrix", "log_curve", "log_points_3d", "log_embedding",
         "log_dataframe_profile"), "media has no counterpart"),
    **dict.fromkeys(
        ("log_asset", "log_asset_data", "log_asset_folder", "log_remote_asset", "log_artifact", "get_artifact",
         "log_model", "log_remote_model", "register_model", "log_code", "log_notebook", "log_tensorboard_folder",
         "log_tensorflow_folder", "log_dataset_hash", "log_dataset_info"), "files stay with Comet"),
    **dict.fromkeys(("log_system_info", "log_dependency", "set_model_graph"), "a view of the machine and model"),
    "send_notification": "notifications have no counterpart",
    "log_optimization": "an optimizer's trials stay with Comet",
}  # fmt: skip

TRACKER = Tracker(
    name="comet",
    title="Comet",
    packages=frozenset({"comet_ml"}),
    needles=(b"comet_ml",),
    opens={name: Opening(arguments=_arguments, kept_as="experiment") for name in OPENS},
    emits={
        **{f"{run}.log_metric": _metric for run in EXPERIMENTS},
        **{f"{run}.log_metrics": _metrics for run in EXPERIMENTS},
    },
    closes=frozenset({"comet_ml.end", "comet_ml.experiment.end", *(f"{run}.end" for run in EXPERIMENTS)}),
    closes_with_code=False,
    leaves={f"{run}.{name}": why for run in EXPERIMENTS for name, why in _LEFT.items()},
    settles=frozenset(f"{run}.{name}" for run in EXPERIMENTS for name in ("set_name", "log_parameters")),
)

RULE = Rule(
    name="comet", title="Comet", needles=TRACKER.needles, plan=partial(plan_tracker, tracker=TRACKER), order=250
)
