"""MLflow, fluent and by its client: start_run, log_metric, log_metrics, end_run.

A call without a step records step 0 (mlflow 3.17). A run that only groups nested runs opens none at Probe.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.bind import repeatable
from instrument.plan.config import config_at
from instrument.plan.emission import Opening, Tracker, mapping_call, scalar_call
from instrument.plan.place import argument
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
    for other in context.modules(b"start_run"):
        for started in other.calls():
            named = isinstance(started.func, (ast.Attribute, ast.Name)) and "start_run" in other.code(started.func)
            if named and "mlflow.start_run" in context.program.resolve(other, started.func):
                return "the run is opened by start_run"
    return None


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
        **{f"{c}.create_run": Opening(arguments=_arguments, ambient=lambda module, call: "") for c in CLIENTS},
    },
    emits={
        "mlflow.log_metric": scalar_call((0, ("key",)), (1, ("value",)), (2, ("step",))),
        "mlflow.log_metrics": mapping_call(0, ("metrics",), 1, missing_step="0", automatic=False),
        **{f"{c}.log_metric": scalar_call((1, ("key",)), (2, ("value",)), (4, ("step",))) for c in CLIENTS},
    },
    closes=frozenset({"mlflow.end_run", *(f"{c}.set_terminated" for c in CLIENTS)}),
    closes_with_code=False,
    leaves={
        **{f"mlflow.{name}": "artifacts stay with MLflow" for name in ("log_artifact", "log_artifacts", "log_figure",
           "log_image", "log_table", "log_dict", "log_text", "log_model")},
        **{f"mlflow.{name}": "parameters are the run's config" for name in ("log_param", "log_params")},
        **{f"mlflow.{name}": "tags have no counterpart in a running run" for name in ("set_tag", "set_tags")},
        "mlflow.autolog": "autologged metrics are MLflow's own; instrument the framework that they come from",
        **{f"{c}.log_batch": "a batch of entities: mirror it by hand" for c in CLIENTS},
    },
)  # fmt: skip

RULE = Rule(
    name="mlflow", title="MLflow", needles=TRACKER.needles, plan=partial(plan_tracker, tracker=TRACKER), order=220
)
