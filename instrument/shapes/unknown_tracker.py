"""A trainer of one's own whose tracker layer has the signature of one that is known: wired the same way, to review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes import _fanouts, _inhouse, _signatures

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "unknown_tracker"


def plan(context: Context) -> None:
    """Wire each layer that no framework's own rule has taken."""
    taken = {site.path for site in context.plan.sites if site.kind == "registry"}
    # Miles has its registry in one file and the manager that reads it in the next: one of them is enough.
    known = {path.rpartition("/")[0] for path in taken}
    for layer in _signatures.tracking_classes(context):
        if layer.module.path not in taken:
            _say(context, layer.module.path, layer.node.lineno, layer.node.name, "a list of supported backends")
            _signatures.wire_tracking_class(context, NAME, layer, applicability="review")
            taken.add(layer.module.path)
    for item in _inhouse.found(context):
        module, node = item.layer.module, item.layer.node
        if module.path not in taken and module.path.rpartition("/")[0] not in known:
            _say(context, module.path, node.lineno, node.name, item.what)
            _inhouse.wire(context, NAME, item)
            taken.add(module.path)
    for registry in _signatures.registries(context):
        if registry.module.path not in taken:
            _say(context, registry.module.path, registry.factory.lineno, registry.name, "names for tracker classes")
            _signatures.wire_registry(context, NAME, registry, applicability="review")
            taken.add(registry.module.path)
    for fanout in _fanouts.fanouts(context):
        module, node = fanout.layer.module, fanout.layer.node
        if module.path not in taken:
            _say(context, module.path, node.lineno, node.name, "a list of loggers")
            _fanouts.wire_fanout(context, NAME, fanout, applicability="review")
            _inhouse.claim_classes(context, NAME, module)
            taken.add(module.path)
    for inline in _fanouts.inlines(context):
        module, node = inline.layer.module, inline.layer.node
        if module.path not in taken:
            _say(context, module.path, node.lineno, node.name, "calls of several trackers side by side")
            _fanouts.wire_inline(context, NAME, inline, applicability="review")
            taken.add(module.path)


def _say(context: Context, path: str, line: int, name: str, what: str) -> None:
    context.found(NAME, f"{name}: {what}")
    context.note(
        "warning", "look-at-the-tracker", f"{name} has {what}, as a known trainer's tracker layer has: Probe is wired "
        "in there in the same way; look at it before you keep it", path=path, line=line,
    )  # fmt: skip


RULE = Rule(
    name=NAME, title="tracker layer of a trainer",
    needles=(b"supported_backend", b"Tracker", b"loggers.append", b"monitors.append", b"trackers.append",
             b"backends.append", b"sinks.append", b"writers.append", b")()", b"swanlab", b"trackio", b'"wandb"', b"'wandb'",
             b'"tensorboard"', b"'tensorboard'"),
    plan=plan, order=190,
)  # fmt: skip
