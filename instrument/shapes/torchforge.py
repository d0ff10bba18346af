"""torchforge (meta-pytorch/torchforge): backends of metrics by name, in one global logging actor.

Read at 6e77f0b3 (2025-11-15), `forge/observability/metric_actors.py`. A class more in `get_logger_backend_class` would
need an entry in every config, so the actor itself sends what it has reduced, in its own process. Backends that log on
each rank (`per_rank_no_reduce`) would be a run a rank: they stay as they are. A driver has no way into the actor.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.rules import Rule
from instrument.shapes._signatures import (
    Function,
    Layer,
    Wiring,
    calls_in,
    claim,
    classes,
    mentions_probe,
    of,
    opening,
    parameters,
)

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "torchforge"


def plan(context: Context) -> None:
    """Edit the global logging actor where it is in the repository."""
    for module in context.modules(b"log_batch"):
        if of(module, "forge") and _wire(context, module):
            for other in context.modules(b"wandb"):
                if other.path.rpartition("/")[0] == module.path.rpartition("/")[0]:
                    claim(context, NAME, other)


def _wire(context: Context, module: Module) -> bool:
    """Edit the actor of a file, if it has one."""
    for layer in classes(module):
        opener, flush, closer = (layer.methods.get(name) for name in ("init_backends", "flush", "shutdown"))
        if opener is None or flush is None or closer is None or "config" not in parameters(opener):
            continue
        if not any(module.code(decorator).endswith("endpoint") for decorator in flush.decorator_list):
            continue  # a collector of one rank
        logs = [c for c in calls_in(flush) if isinstance(c.func, ast.Attribute) and c.func.attr == "log_batch"]
        if logs and len(logs[0].args) == 2:
            _wire_actor(context, layer, opener, closer, logs[0])
            return True
    return False


def _wire_actor(context: Context, layer: Layer, opener: Function, closer: Function, log: ast.Call) -> None:
    module, name = layer.module, layer.node.name
    context.found(NAME, f"class {name}")
    wiring = Wiring(
        context, NAME, module, layer.node, name, process=f"actor {name}",
        why="the actor that reduces the metrics of all ranks sends them",
    )  # fmt: skip
    loop = module.parent(module.statement(log))
    metrics, step = (module.code(argument) for argument in log.args)

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core")
        guards = [s for s in opener.body if isinstance(s, ast.If) and isinstance(s.body[-1], ast.Return)]
        line = opening(context, alias, None, "config")
        point = place.after(module, guards[0], ["", line]) if guards else place.at_top_of(module, opener, [line])
        wiring.put(point, "open Probe's run in the actor that logs")
        sent = f"{alias}.log({{metric.key: metric.value for metric in {metrics}}}, step={step})"
        spot = place.before(module, loop, [sent]) if isinstance(loop, ast.For) else None
        wiring.put(spot, "send what was reduced over all ranks")
        wiring.put(place.at_top_of(module, closer, [f"{alias}.finish()"]), "close it where the actor is shut down")

    if wiring.write(mentions_probe(layer.node), fill):
        context.note(
            "info", "never-shut-down", "apps/grpo never shuts its metric logger down, so the actor's run is left open "
            "there and found as crashed", path=module.path,
            next="call `await mlogger.shutdown.call_one()` where training ends, as apps/sft does",
        )  # fmt: skip


RULE = Rule(name=NAME, title="torchforge", needles=(b"forge.observability", b"log_batch"), plan=plan, order=129)
