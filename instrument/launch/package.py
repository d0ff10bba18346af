"""The last word on the package: where nothing in the repository installs it, the report says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered
from instrument.launch._dependencies import selected
from instrument.launch._names import PACKAGE
from instrument.launch.requirements import KIND as _REQUIREMENTS
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context


def plan(ctx: Context) -> None:
    """Note it where no file declares or installs the package."""
    if not covered(ctx) or selected(ctx):
        return
    if any(PACKAGE in edit.text for edit in ctx.plan.edits):
        return
    ctx.note(
        "info",
        "package-not-declared",
        "no file of this repository installs the tracker or the framework, so that none installs the SDK either",
        next=f"pip install {PACKAGE}, where the trainer runs",
    )


RULE = Rule(
    name="package", title="Is the SDK installed anywhere", needles=_REQUIREMENTS.needles, plan=plan, order=ORDER + 90
)
