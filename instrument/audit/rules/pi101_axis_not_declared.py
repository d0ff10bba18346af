"""PI101: `define_metric` without `step_metric`, where the metric is not itself an axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.audit.axes import declared, is_counter
from instrument.audit.keys import WILD
from instrument.audit.rule import AuditRule, Finding
from instrument.plan.place import argument

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext


def check(context: AuditContext) -> Iterator[Finding]:
    found = declared(context)
    axes = {axis for one in found for axis in one.axes}
    texts = {(one.module.path, one.module.code(one.axis)) for one in found if one.axis is not None}
    for one in found:
        summary = [argument(one.call, None, name) for name in ("summary", "goal")]
        if one.axis is not None or any(summary) or (one.module.path, one.module.code(one.name)) in texts:
            continue
        orphans = [name for name in one.names if name not in axes]
        if not orphans or any(WILD in name for name in one.names):
            continue
        if any(WILD in axis for axis in axes) and all(map(is_counter, orphans)):
            continue  # it may be that axis
        named = ", ".join(f"«{name}»" for name in orphans)
        if all(map(is_counter, orphans)):
            message = f"{named} is declared, but no metric is declared to plot against it"
        else:
            message = f"{named} is declared without step_metric: it plots against the tracker's automatic step"
        yield context.finding("PI101", one.module, one.call, message, names=tuple(orphans), declared=found)


RULE = AuditRule(
    code="PI101",
    name="axis-not-declared",
    summary="`define_metric` names a metric without the axis that it plots against.",
    why="Without `step_metric` the chart's x-axis is W&B's automatic step, which counts calls of `log`, not steps of "
    "training: it differs between runs that log at different times, and moves on when another metric is logged. A "
    "counter that is declared, and that nothing names as its axis, has the same effect on everything else.",
    bad='wandb.define_metric("train/loss")',
    good='wandb.define_metric("train/step")\nwandb.define_metric("train/loss", step_metric="train/step")',
    fix="The axis that the repository declares for the metric's section is added.",
    applicability="review",
    needles=(b"define_metric",),
    check=check,
)
