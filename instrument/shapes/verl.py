"""verl (verl-project/verl, before volcengine/verl): the class `Tracking`, which checks its backends against a list.

Code that only imports it gets Probe's calls beside its own, since a backend that an installed verl does not know is an
AssertionError. One step has all of a row's metrics: `log(data=, step=)` (read in 0.4.1, 0.7.1 and 0.9.1).
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.alongside import plan_tracker
from instrument.plan.bind import effect_free
from instrument.plan.emission import Opening, Tracker, mapping_call
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "verl"
TRACKING = "verl.utils.tracking.Tracking"


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    given = []
    name, config = place.argument(call, 1, "experiment_name"), place.argument(call, 3, "config")
    if isinstance(config, ast.Call) and module.code(config.func).endswith("to_container") and config.args:
        config = config.args[0]  # Probe reads an OmegaConf config as it is
    if name is not None and effect_free(name):
        given.append(f"name={module.code(name)}")
    if config is not None and (effect_free(config) or isinstance(config, ast.Dict)):
        given.append(f"config={module.code(config)}")
    return given


TRACKER = Tracker(
    name=NAME,
    title="verl's Tracking",
    packages=frozenset({"verl"}),
    needles=(b"verl",),
    opens={TRACKING: Opening(arguments=_arguments, ambient=lambda module, call: "")},
    emits={f"{TRACKING}().log": mapping_call(0, ("data",), 1)},
    closes=frozenset({f"{TRACKING}().finish"}),
    rank=5,
)

RULE = Rule(name=NAME, title="verl", needles=TRACKER.needles, plan=partial(plan_tracker, tracker=TRACKER), order=120)
