"""rllm (rllm-org/rllm): verl's class `Tracking` in `rllm/utils/tracking.py`, with a logger of its own interface.

Read at v0.2.1.post1, v0.3.0-pre and 9beb6e0f (2026-08-15); v0.2.0 imports verl's. As a fork the class is edited, which
covers the tinker, fireworks and verl backends alike. Code that only imports rllm gets Probe's calls beside its own
calls of the class; the rows of an installed trainer have no way out but a hook in its Ray job, and the plan says so.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.rules import Rule
from instrument.shapes._signatures import list_builders, of, tracking_classes, wire_tracking_class
from instrument.shapes.verl import say_how_the_token_gets_there, tracker_of

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.emission import Tracker

NAME = "rllm"


def plan(context: Context, tracker: Tracker) -> None:
    """Edit the class where it is in the repository, else log beside each call of it."""
    layers = [layer for layer in tracking_classes(context) if of(layer.module, "rllm")]
    for layer in layers:
        context.found(NAME, f"class {layer.node.name}")
        if wire_tracking_class(context, NAME, layer):
            say_how_the_token_gets_there(context, layer.module, "verl backend: ray_init.runtime_env.env_vars.")
    if layers:
        list_builders(context, NAME, layers)
        return
    plan_tracker(context, tracker)
    _ask_about_trainers(context)


def _ask_about_trainers(context: Context) -> None:
    """`AgentTrainer(...).train()` of an installed rllm builds its own Tracking, which knows no Probe."""
    for module in context.modules(b"rllm"):
        for call in module.calls():
            func = call.func
            last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
            if last != "AgentTrainer":
                continue
            names = context.program.resolve(module, func)
            if any(name.startswith("rllm.") for name in names):
                context.found(NAME, "imported")
                site = context.site(NAME, "build", module, call, f"{last}(...)", outcome="asked")
                site.why = "its metrics go to the Tracking of the installed rllm, which this repository can't edit"
                context.note(
                    "question", "installed-tracker", f"{site.what}: {site.why}", path=module.path, line=site.line,
                    next="keep rllm's source in the repository (an editable clone), then run `instrument apply` there; "
                    "or import the run from W&B afterwards",
                )  # fmt: skip
                return


TRACKER = tracker_of(NAME, "rllm's Tracking", "rllm", "rllm.utils.tracking.Tracking")

RULE = Rule(name=NAME, title="rllm", needles=(b"rllm",), plan=partial(plan, tracker=TRACKER), order=121)
