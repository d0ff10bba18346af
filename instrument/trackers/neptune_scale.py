"""Neptune's client 3 (`neptune_scale`): Run, log_metrics(data, step).

neptune_scale 0.30.0 (`api/run.py`): a step is always given; keys are paths as they stand. `log_configs` is the config.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.emission import Ask, Emission, Left, Opening, Tracker, mapping_call
from instrument.plan.place import argument, has_splat
from instrument.plan.rules import Rule
from instrument.trackers._reading import config_argument, name_argument

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

OPENS = ("neptune_scale.Run", "neptune_scale.api.run.Run")
RUNS = tuple(f"{name}()" for name in OPENS)


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    name = name_argument(module, call, None, "experiment_name") or name_argument(module, call, None, "run_id")
    return [*name, *config_argument(context, TRACKER, module, call, ("log_configs",))]


_read_log = mapping_call(3, ("metrics",), 0, automatic=False)


def _log(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`log(step, timestamp, configs, metrics, ...)`, the form of before 0.10."""
    if argument(call, 3, "metrics") is None and not has_splat(call):
        return Left("no metrics")
    return _read_log(context, module, call)


_LEFT = {
    "log_configs": "parameters are the run's config",
    "log_string_series": "text has no counterpart",
    "log_histograms": "histograms have no counterpart",
    **dict.fromkeys(("assign_files", "log_files"), "files stay with Neptune"),
    **dict.fromkeys(("add_tags", "remove_tags"), "tags have no counterpart in a running run"),
}

TRACKER = Tracker(
    name="neptune_scale",
    title="Neptune 3",
    packages=frozenset({"neptune_scale"}),
    needles=(b"neptune_scale",),
    opens={name: Opening(arguments=_arguments) for name in OPENS},
    emits={
        **{f"{run}.log_metrics": mapping_call(0, ("data",), 1, automatic=False) for run in RUNS},
        **{f"{run}.log": _log for run in RUNS},
    },
    closes=frozenset(f"{run}.{name}" for run in RUNS for name in ("close", "terminate")),
    closes_with_code=False,
    leaves={f"{run}.{name}": why for run in RUNS for name, why in _LEFT.items()},
    settles=frozenset(f"{run}.log_configs" for run in RUNS),
)

RULE = Rule(
    name="neptune_scale", title="Neptune 3", needles=TRACKER.needles, plan=partial(plan_tracker, tracker=TRACKER),
    order=256,
)  # fmt: skip
