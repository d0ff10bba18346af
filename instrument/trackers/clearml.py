"""ClearML: Task.init and the task's logger: report_scalar, report_single_value.

clearml 2.1.12 (`logger.py`): `report_scalar(title, series, value, iteration)` is the series `title/series`; a single
value stands under the title "Summary" and is shown with its last value, so at Probe it takes the next step. A continued
task adds its offset to every iteration (`Task.set_initial_iteration`); Probe gets the iteration as it was given.
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
from instrument.trackers._reading import config_argument, name_argument

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

TASKS = ("clearml.Task.init()", "clearml.task.Task.init()", "clearml.Task.current_task()", "clearml.Task()")
LOGGERS = (
    *(f"{task}.get_logger()" for task in TASKS), *(f"{task}.logger" for task in TASKS),
    "clearml.Logger.current_logger()", "clearml.logger.Logger.current_logger()", "clearml.Logger()",
)  # fmt: skip


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    config = config_argument(context, TRACKER, module, call, ("connect",))
    return [*name_argument(module, call, 1, "task_name"), *config]


def _other_task(context: Context, module: Module, call: ast.Call) -> str | None:
    """Tasks that train nothing: `task_type=Task.TaskTypes.optimizer`."""
    kind = argument(call, 2, "task_type")
    name = kind.attr if isinstance(kind, ast.Attribute) else kind.value if isinstance(kind, ast.Constant) else ""
    return f"a task of the type {name} trains nothing" if name in _NO_TRAINING else None


_NO_TRAINING = ("optimizer", "controller", "service", "monitor", "data_processing", "qc", "application")


def _scalar(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`report_scalar(title, series, value, iteration)`."""
    title, series = argument(call, 0, "title"), argument(call, 1, "series")
    value, step = argument(call, 2, "value"), argument(call, 3, "iteration")
    if title is None or series is None or value is None or step is None or has_splat(call):
        return Ask("its arguments are passed on by * or **")
    return Emission(
        uses=(Used(title, "key"), Used(series, "series"), Used(value, "value"), Used(step, "step")),
        text=lambda t: f"{{{joined([(title, t[0]), (series, t[1])])}: {t[2]}}}, step={t[3]}",
    )


def _single(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`report_single_value(name, value)`."""
    name, value = argument(call, 0, "name"), argument(call, 1, "value")
    if name is None or value is None or has_splat(call):
        return Ask("its arguments are passed on by * or **")
    return Emission(
        uses=(Used(name, "key"), Used(value, "value")),
        text=lambda t: f"{{{joined([('Summary', ''), (name, t[0])])}: {t[1]}}}",
    )


_LEFT = {
    "report_text": "text has no counterpart",
    **dict.fromkeys(
        ("report_vector", "report_histogram", "report_table", "report_line_plot", "report_scatter2d",
         "report_scatter3d", "report_confusion_matrix", "report_matrix", "report_surface", "report_image",
         "report_media", "report_plotly", "report_matplotlib_figure", "report_image_and_upload"),
        "media has no counterpart"),
}  # fmt: skip
_TASK_LEFT = {
    **dict.fromkeys(
        ("connect", "connect_configuration", "set_parameters", "set_parameter"), "parameters are the run's config"
    ),
    **dict.fromkeys(("upload_artifact", "register_artifact"), "files stay with ClearML"),
    **dict.fromkeys(("add_tags", "set_tags", "set_comment", "set_name"), "notes on the run stay with ClearML"),
}  # fmt: skip

TRACKER = Tracker(
    name="clearml",
    title="ClearML",
    packages=frozenset({"clearml"}),
    needles=(b"clearml",),
    opens={name: Opening(arguments=_arguments, ambient=lambda module, call: "", skip=_other_task, kept_as="task") for name in
           ("clearml.Task.init", "clearml.task.Task.init")},
    emits={
        **{f"{logger}.report_scalar": _scalar for logger in LOGGERS},
        **{f"{logger}.report_single_value": _single for logger in LOGGERS},
    },
    closes=frozenset(f"{task}.{name}" for task in TASKS for name in ("close", "mark_completed")),
    closes_with_code=False,
    leaves={
        **{f"{logger}.{name}": why for logger in LOGGERS for name, why in _LEFT.items()},
        **{f"{task}.{name}": why for task in TASKS for name, why in _TASK_LEFT.items()},
    },
    settles=frozenset(f"{task}.connect" for task in TASKS),
)  # fmt: skip

RULE = Rule(
    name="clearml", title="ClearML", needles=TRACKER.needles, plan=partial(plan_tracker, tracker=TRACKER), order=270
)
