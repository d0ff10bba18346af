"""PI101: `define_metric` without `step_metric`, where the metric is not itself an axis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.audit.rule import AuditRule, Finding

if TYPE_CHECKING:
    from instrument.audit.context import AuditContext


def check(context: AuditContext) -> Iterator[Finding]:
    return iter(())


RULE = AuditRule(
    code="PI101",
    name="axis-not-declared",
    summary="`define_metric` names a metric without the axis that it plots against.",
    why="Without `step_metric` the chart's x-axis is W&B's automatic step, which counts calls of `log`, not steps of training: "
    "it differs between runs that log at different times, and is reset or shifted by a resume.",
    bad='wandb.define_metric("train/loss")',
    good='wandb.define_metric("train/step")\nwandb.define_metric("train/loss", step_metric="train/step")',
    fix="The axis that the same file declares for the metric's section is added.",
    applicability="review",
    needles=(b"define_metric",),
    check=check,
)
