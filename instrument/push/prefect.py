"""Prefect flows: state hooks beside the flow's own (Prefect 2.16 to 3.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.push._common import ORDER, below_decorated

if TYPE_CHECKING:
    from instrument.plan.context import Context

_NAMES = frozenset(("prefect.flow", "prefect.flows.flow"))


def plan(ctx: Context) -> None:
    """A hook below each of them."""
    below_decorated(ctx, b"prefect", _NAMES, rule=RULE.name, part="prefect")


RULE = Rule(name="prefect", title="Prefect", needles=(b"prefect",), plan=plan, order=ORDER, push=True)
