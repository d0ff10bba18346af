"""verl (verl-project/verl, before volcengine/verl): a class `Tracking` that checks backends against a list.

Where its source is in the repository the class itself is edited: each of its methods goes to Probe as well, in whatever
process builds it. Naming a new backend would need every config and launch command to list it. Code that only imports
verl gets Probe's calls beside its own, since a backend that an installed verl does not know is an AssertionError.
Read in verl 0.4.1, 0.7.1, 0.9.1 and the fork LLM360/Reasoning360 (13158341, 2025-08-21).
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
from instrument.shapes._signatures import list_builders, of, tracking_classes, wire_tracking_class

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "verl"
TRACKING = "verl.utils.tracking.Tracking"


def plan(context: Context, tracker: Tracker) -> None:
    """Edit the class where it is in the repository, else log beside each call of it."""
    layers = [layer for layer in tracking_classes(context) if of(layer.module, "verl")]
    if not layers:
        plan_tracker(context, tracker)
        return
    for layer in layers:
        context.found(NAME, f"class {layer.node.name}")
        if wire_tracking_class(context, NAME, layer):
            say_how_the_token_gets_there(context, layer.module, "+ray_kwargs.ray_init.runtime_env.env_vars.")
    list_builders(context, NAME, layers)


def say_how_the_token_gets_there(context: Context, module: Module, prefix: str) -> None:
    """The class is built in a Ray actor: what a running cluster lacks, and how it is given."""
    context.note(
        "info", "actor-token",
        f"{module.path} is used in a Ray actor: on a running cluster PROBE_TOKEN reaches it only through the job's "
        "runtime environment",
        path=module.path, next=f"{prefix}PROBE_TOKEN=$PROBE_TOKEN; PROBE_MODE=disabled leaves Probe off",
    )  # fmt: skip


# -- verl is only imported ---------------------------------------------------------------------------------------------


def tracker_of(name: str, title: str, package: str, *tracking: str) -> Tracker:
    """The calls that code makes of an installed tracking class, by its qualified names."""
    return Tracker(
        name=name,
        title=title,
        packages=frozenset({package}),
        needles=(f"{package}.".encode(),),
        opens={each: Opening(arguments=_arguments, ambient=lambda module, call: "") for each in tracking},
        emits={f"{each}().log": mapping_call(0, ("data",), 1) for each in tracking},
        closes=frozenset(f"{each}().finish" for each in tracking),
    )


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


TRACKER = tracker_of(NAME, "verl's Tracking", "verl", TRACKING)

RULE = Rule(
    name=NAME, title="verl", needles=(b"verl.", b"supported_backend"), plan=partial(plan, tracker=TRACKER), order=120
)
