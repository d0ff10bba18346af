"""MLflow, fluent and by its client: start_run, log_metric, log_metrics, end_run.

A call without a step records step 0 (mlflow 3.17). A run that only groups nested runs opens none at Probe.
"""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.bind import repeatable
from instrument.plan.config import config_at
from instrument.plan.emission import Ask, Emission, Left, Opening, Tracker, mapping_call, scalar_call
from instrument.plan.place import argument, has_splat
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

CLIENTS = ("mlflow.MlflowClient()", "mlflow.tracking.MlflowClient()", "mlflow.client.MlflowClient()")
_LOGS = ("log_metric", "log_metrics")


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    given = []
    name = argument(call, None, "run_name")
    if name is not None and repeatable(name):
        given.append(f"name={module.code(name)}")
    config = config_at(context, module, call)
    return [*given, f"config={config}"] if config else given


def _only_groups(context: Context, module: Module, call: ast.Call) -> str | None:
    """`with start_run(): for fold in ...: with start_run(nested=True): ...` sends its metrics to the inner runs."""
    stmt = module.statement(call)
    if not isinstance(stmt, ast.With) or not any(item.context_expr is call for item in stmt.items):
        return None
    inner = [
        node
        for node in ast.walk(stmt)
        if isinstance(node, ast.With) and node is not stmt and _opens(context, module, node)
    ]
    inside = {id(node) for other in inner for node in ast.walk(other)}
    own = [
        node
        for node in ast.walk(stmt)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in _LOGS
        and id(node) not in inside
    ]
    return "this run only groups the nested ones" if inner and not own else None


def _opens(context: Context, module: Module, stmt: ast.With) -> bool:
    return any(
        isinstance(item.context_expr, ast.Call)
        and "mlflow.start_run" in context.program.resolve(module, item.context_expr.func)
        for item in stmt.items
    )


def _set_experiment(context: Context, module: Module, call: ast.Call) -> str | None:
    """MLflow opens a run by itself at the first metric: where no run is started, Probe's opens with the experiment."""
    for other in context.modules(b"start_run", b"create_run"):
        for started in other.calls():
            if not isinstance(started.func, (ast.Attribute, ast.Name)):
                continue
            name = started.func.attr if isinstance(started.func, ast.Attribute) else started.func.id
            if name in ("start_run", "create_run") and context.program.resolve(other, started.func) & _STARTS:
                return f"the run is opened by {name}"
    return None


_STARTS = frozenset({"mlflow.start_run", *(f"{client}.create_run" for client in CLIENTS)})


def _stores_files(context: Context, module: Module, call: ast.Call) -> str | None:
    """A client also makes runs to keep files in."""
    return None if re.search(r"\blog_(metrics?|batch)\b", module.text) else "no metrics are sent to it here"


def _batch(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`client.log_batch(run_id, metrics=[Metric(...)], params=..., tags=...)`."""
    if argument(call, 1, "metrics") is None and not has_splat(call):
        return Left("parameters are the run's config")
    return Ask("it sends a list of Metric objects, each with a step of its own")


_LEFT = {
    **dict.fromkeys(
        ("log_artifact", "log_artifacts", "log_figure", "log_image", "log_table", "log_dict", "log_text", "log_model",
         "log_input", "log_inputs", "log_outputs", "log_stream", "log_model_artifact", "log_model_artifacts"),
        "artifacts stay with MLflow"),
    **dict.fromkeys(("log_param", "log_params", "log_model_params"), "parameters are the run's config"),
    **dict.fromkeys(("set_tag", "set_tags", "delete_tag"), "tags have no counterpart in a running run"),
    "autolog": "autologged metrics are MLflow's own; instrument the framework that they come from",
}  # fmt: skip

TRACKER = Tracker(
    name="mlflow",
    title="MLflow",
    packages=frozenset({"mlflow"}),
    needles=(b"mlflow",),
    opens={
        "mlflow.start_run": Opening(arguments=_arguments, ambient=lambda module, call: "", skip=_only_groups),
        "mlflow.set_experiment": Opening(
            arguments=_arguments, ambient=lambda module, call: "", gives_handle=False, skip=_set_experiment
        ),
        **{
            f"{c}.create_run": Opening(arguments=_arguments, ambient=lambda module, call: "", skip=_stores_files)
            for c in CLIENTS
        },
    },
    emits={
        "mlflow.log_metric": scalar_call((0, ("key",)), (1, ("value",)), (2, ("step",))),
        "mlflow.log_metrics": mapping_call(0, ("metrics",), 1, missing_step="0", automatic=False),
        **{f"{c}.log_batch": _batch for c in CLIENTS},
        **{f"{c}.log_metric": scalar_call((1, ("key",)), (2, ("value",)), (4, ("step",))) for c in CLIENTS},
    },
    closes=frozenset({"mlflow.end_run", *(f"{c}.set_terminated" for c in CLIENTS)}),
    closes_with_code=False,
    leaves={
        **{f"mlflow.{name}": why for name, why in _LEFT.items()},
        **{f"{c}.{name}": why for c in CLIENTS for name, why in _LEFT.items() if name != "autolog"},
    },
)  # fmt: skip

RULE = Rule(
    name="mlflow", title="MLflow", needles=TRACKER.needles, plan=partial(plan_tracker, tracker=TRACKER), order=220
)
