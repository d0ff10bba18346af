"""Flyte tasks: their function is wrapped where it is (flytekit 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.push._common import ORDER, below_decorated

if TYPE_CHECKING:
    from instrument.plan.context import Context

_NAMES = frozenset(("flytekit.task", "flytekit.core.task.task", "union.task"))


def plan(ctx: Context) -> None:
    """A hook below each of them."""
    below_decorated(ctx, b"flytekit", _NAMES, rule=RULE.name, part="flyte")


RULE = Rule(name="flyte", title="Flyte", needles=(b"flytekit",), plan=plan, order=ORDER, push=True)
