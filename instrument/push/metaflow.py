"""Metaflow flows: their steps are wrapped where they are; start and end say how the flow stands (Metaflow 2)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.push._common import ORDER, TITLES, below

if TYPE_CHECKING:
    from instrument.plan.context import Context


def plan(ctx: Context) -> None:
    """A hook below each flow."""
    for module in ctx.modules(b"metaflow"):
        for node in module.tree.body if module.source.kind == "python" else ():
            if not isinstance(node, ast.ClassDef):
                continue
            bases = {name for base in node.bases for name in ctx.program.resolve(module, base)}
            if "metaflow.FlowSpec" in bases:
                ctx.found(RULE.name)
                site = ctx.site(RULE.name, "launch", module, node, f"class {node.name}", process=TITLES["metaflow"])
                below(ctx, module, node, site, rule=RULE.name, part="metaflow", packages=("metaflow",))


RULE = Rule(name="metaflow", title="Metaflow", needles=(b"metaflow",), plan=plan, order=ORDER, push=True)
