"""Where rows of metrics leave for a tracker: calls of trackers by name, and of the layers that trainers put before them.

A layer is told by what it is called (`tracking.log(row, step=...)`, `self.logger.log_metrics(row, step)`): a method that
logs, on something that is named as a tracker is, given a row.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from instrument.plan.place import argument

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext
    from instrument.repo.module import Module

#: What a file has in it that sends metrics anywhere.
NEEDLES = (b".log(", b".log_", b".add_scalar", b"wandb", b"metrics")
_RECEIVER = re.compile(
    r"track|wandb|monitor|logger|writer|metric|swanlab|mlflow|trackio|tensorboard|experiment|^run$|_run$"
)
_METHODS = frozenset("log log_metrics log_dict log_scalars log_train log_eval log_stats".split())
_NOT_ROWS = re.compile(r"args|config|cfg|self|logger|trainer|state|opt")
_WANDB = frozenset(
    {"wandb.log", "wandb.run.log", "wandb.init().log", "wandb.Run().log", "wandb.sdk.wandb_run.Run().log"}
)
_MAPPINGS = {
    **dict.fromkeys(_WANDB, "wandb"),
    **dict.fromkeys(("trackio.log", "trackio.init().log"), "trackio"),
    **dict.fromkeys(("swanlab.log", "swanlab.init().log", "swanlab.get_run().log"), "swanlab"),
    **dict.fromkeys(("mlflow.log_metrics",), "mlflow"),
    **dict.fromkeys(("accelerate.Accelerator().log",), "accelerate"),
    **dict.fromkeys(("probe.log", "probe.init().log"), "probe"),
}
_SCALARS = frozenset({"add_scalar", "log_metric"})
#: Files in which a call could be one.
_CALL = re.compile(
    rb"(?<!torch)(?<!math)(?<!numpy)(?<!np)(?<!jnp)(?<!tf)\.log\s*\("
    rb"|\.(?:log_metrics?|log_dict|log_scalars|log_train|log_eval|log_stats|add_scalar)\s*\(|import[^\n]*\blog\b"
)
_LAST = re.compile(r"(\w+)\W*$")


@dataclass(frozen=True, eq=False)
class Sink:
    """One call that sends a row (or one value, for `scalar`)."""

    module: Module
    call: ast.Call
    #: The tracker by its package, or "layer" for one of the repository's own.
    tracker: str
    kind: Literal["row", "scalar"]
    row: ast.expr
    step: ast.expr | None
    #: `prefix=` of the call, which a layer puts before each key.
    prefix: ast.expr | None = None
    #: `step_key=` and the like: the name of the counter that a layer is told.
    step_key: ast.expr | None = None

    @property
    def exact(self) -> bool:
        return self.tracker != "layer"


def find_sinks(context: AuditContext) -> list[Sink]:
    """Every such call in the repository's own files, in order of path."""
    found = []
    for module in context.modules(*NEEDLES, where=_CALL.search):
        for call in module.calls():
            sink = _sink(context, module, call)
            if sink is not None:
                found.append(sink)
    return found


def _sink(context: AuditContext, module: Module, call: ast.Call) -> Sink | None:
    func = call.func
    if not call.args and not call.keywords:
        return None  # a logarithm
    if isinstance(func, ast.Attribute):
        if not isinstance(func.value, (ast.Name, ast.Attribute, ast.Subscript)) and not _named_as_one(module, func):
            return None
        if func.attr in _SCALARS:
            return _scalar(context, module, call, func)
        if func.attr not in _METHODS:
            return None
    elif not isinstance(func, ast.Name) or func.id not in module.aliases | {"log"}:
        return None
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in ("self", "cls"):
        return None  # a method of one's own: what it calls is looked at there
    names = context.program.resolve(module, func)
    for name in sorted(names):
        if name in _MAPPINGS:
            row = argument(call, 0, "data", "metrics", "dictionary", "values")
            if row is None:
                return None
            return Sink(module, call, _MAPPINGS[name], "row", row, argument(call, 1, "step"))
    if not isinstance(func, ast.Attribute) or any(name.startswith("logging.") for name in names):
        return None
    receiver = _LAST.search(module.code(func.value))
    if receiver is None or not _RECEIVER.search(receiver[1].lower()):
        if receiver is None or "util" not in receiver[1] or argument(call, None, "step", "step_key") is None:
            return None
    row = _row_of(call)
    if row is None:
        return None
    step = argument(call, None, "step", "global_step", "iteration") or _after(call, row)
    told = argument(call, None, "step_key")
    if isinstance(step, ast.Constant) and isinstance(step.value, str):
        step, told = None, step  # the name of a counter that is in the row
    return Sink(module, call, "layer", "row", row, step, argument(call, None, "prefix"), told)


def _named_as_one(module: Module, func: ast.Attribute) -> bool:
    """`wandb.init().log`, `get_tracker().log`."""
    return isinstance(func.value, ast.Call) and bool(_RECEIVER.search(module.code(func.value.func).lower()))


def _scalar(context: AuditContext, module: Module, call: ast.Call, func: ast.Attribute) -> Sink | None:
    key = argument(call, 0, "tag", "key", "name")
    if key is None or argument(call, 1, "scalar_value", "value") is None:
        return None
    receiver = _LAST.search(module.code(func.value))
    if receiver is None or not _RECEIVER.search(receiver[1].lower()):
        return None
    tracker = "tensorboard" if func.attr == "add_scalar" else "mlflow" if receiver[1] == "mlflow" else "layer"
    return Sink(module, call, tracker, "scalar", key, argument(call, 2, "global_step", "step"))


def _row_of(call: ast.Call) -> ast.expr | None:
    """The argument of a layer's call that is the row: named as one, or the first that could be one."""
    named = argument(call, None, "data", "metrics", "log_dict", "logs", "row", "values", "stats")
    if named is not None:
        return named
    for value in call.args:
        if isinstance(value, (ast.Constant, ast.JoinedStr)):
            return None
        if isinstance(value, (ast.Dict, ast.DictComp)):
            return value
        if isinstance(value, ast.Name) and not _NOT_ROWS.fullmatch(value.id):
            return value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict":
            return value
        if isinstance(value, ast.Attribute) and re.search(r"metric|log|stat", value.attr):
            return value
    return None


def _after(call: ast.Call, row: ast.expr) -> ast.expr | None:
    for index, value in enumerate(call.args):
        if value is row and index + 1 < len(call.args):
            return call.args[index + 1]
    return None
