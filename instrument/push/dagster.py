"""Dagster: run status sensors, given to `Definitions` (Dagster 1.1 to 1.13)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan.append import append_argument, append_element
from instrument.plan.place import Insertion, argument, has_splat
from instrument.plan.rules import Rule
from instrument.push._common import ORDER, TITLES, add, import_it

if TYPE_CHECKING:
    from instrument.plan.context import Context


def plan(ctx: Context) -> None:
    """Add the sensors to each Definitions."""
    for module in ctx.modules(b"dagster"):
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call) or "dagster.Definitions" not in ctx.program.resolve(module, node.func):
                continue
            ctx.found(RULE.name)
            site = ctx.site(RULE.name, "launch", module, node, "Definitions(...)", process=TITLES["dagster"])
            if "probe_push" in module.code(node):
                site.outcome, site.why = "already", "it has Probe's sensors"
                continue
            given = argument(node, 3, "sensors")
            if given is None and not has_splat(node):
                spot = append_argument(module, node, "sensors=probe_push.SENSORS")
            elif isinstance(given, ast.List):
                spot = append_element(module, given, "*probe_push.SENSORS")
            elif given is not None:
                # Whatever it is, it is iterated once, as Definitions does it.
                ctx.edit(
                    module.path, module.start(given), module.start(given), "[*(", rule=RULE.name,
                    reason="tells Probe when a run begins and how it ends", applicability="review",
                    group=f"push:{module.path}",
                )  # fmt: skip
                spot = Insertion(module.end(given), " or []), *probe_push.SENSORS]")
            else:
                site.outcome, site.why = "asked", "the arguments of Definitions can't be read"
                ctx.note(
                    "question", "sensors-by-hand", "the arguments of this Definitions can't be read", path=module.path,
                    line=site.line, next="add sensors=probe_push.SENSORS by hand",
                )  # fmt: skip
                continue
            import_it(ctx, module, RULE.name, "dagster", "dagster")
            add(ctx, module, spot.offset, spot.text, site, RULE.name)


RULE = Rule(name="dagster", title="Dagster", needles=(b"dagster",), plan=plan, order=ORDER, push=True)
