"""DVCLive: Live, log_metric at the step that the object counts (`next_step`).

dvclive 3.49.1 (`live.py`): `log_metric(name, val, timestamp=False, plot=True)` records at `live.step`, which only
`next_step()` and an assignment move, so it may be read after the call. `plot=False` keeps a value out of the series.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.emission import Ask, Emission, Left, Opening, Tracker, Used
from instrument.plan.place import argument, has_splat
from instrument.plan.rules import Rule
from instrument.trackers._reading import config_argument, name_argument

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

OPENS = ("dvclive.Live", "dvclive.live.Live")
RUNS = tuple(f"{name}()" for name in OPENS)


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    config = config_argument(context, TRACKER, module, call, ("log_params",))
    return [*name_argument(module, call, None, "exp_name"), *config]


def _metric(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    name, value, plot = argument(call, 0, "name"), argument(call, 1, "val"), argument(call, 3, "plot")
    if name is None or value is None or has_splat(call) or not isinstance(call.func, ast.Attribute):
        return Ask("its arguments are passed on by * or **")
    if isinstance(plot, ast.Constant) and not plot.value:
        return Left("plot=False keeps it out of the series")
    return Emission(
        uses=(Used(name, "key"), Used(value, "value"), Used(call.func.value, "tracker")),
        text=lambda t: f"{{{t[0]}: {t[1]}}}, step={t[2]}.step",
    )


_LEFT = {
    **dict.fromkeys(("log_param", "log_params"), "parameters are the run's config"),
    **dict.fromkeys(("log_image", "log_plot", "log_sklearn_plot"), "media has no counterpart"),
    "log_artifact": "files stay with DVC",
    "monitor_system": "Probe watches the machine itself",
}

TRACKER = Tracker(
    name="dvclive",
    title="DVCLive",
    packages=frozenset({"dvclive"}),
    needles=(b"dvclive",),
    opens={name: Opening(arguments=_arguments, kept_as="live") for name in OPENS},
    emits={f"{run}.{name}": _metric for run in RUNS for name in ("log_metric", "log")},
    closes=frozenset(f"{run}.end" for run in RUNS),
    closes_with_code=False,
    leaves={f"{run}.{name}": why for run in RUNS for name, why in _LEFT.items()},
    settles=frozenset(f"{run}.{name}" for run in RUNS for name in ("log_params", "log_param")),
)

RULE = Rule(
    name="dvclive", title="DVCLive", needles=TRACKER.needles, plan=partial(plan_tracker, tracker=TRACKER), order=280
)
