"""ROLL (alibaba/ROLL): a registry of trackers of which a config names one, built in the driver.

Read at v0.1.0, v0.2.0, v0.3.0 and 8eb27cc2 (2026-08-19), `roll/utils/tracking.py`. As a fork the factory hands out what
is named and Probe; an entry of the registry would take the place of the tracker that a config names. Metric keys are
sent without their reducer tags ("@mean"), by ROLL's own function where it has one. Code that only imports ROLL wraps
the registry's classes before its pipeline is built.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.rules import Rule
from instrument.shapes._building import after_building, ask, class_calls, refuse_shadowed
from instrument.shapes._signatures import of, registries, wire_registry

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "roll"
_STRIP = "_strip_metric_tag"
_PIPELINE = re.compile(r"roll\.(?:pipeline|distributed)(?:\.\w+)*\.\w*Pipeline")


def plan(context: Context) -> None:
    """Edit the factory where it is in the repository, else wrap the tracker of each pipeline that is built."""
    found = [registry for registry in registries(context) if of(registry.module, "roll")]
    for registry in found:
        context.found(NAME, f"{registry.factory.name} of {registry.name}")
        row = _STRIP if registry.module.definition(_STRIP) is not None else None
        if wire_registry(context, NAME, registry, name='config.get("exp_name")', row=row):
            context.note(
                "info", "history-is-replayed", "a resumed pipeline logs its whole history again: Probe drops what it "
                "has of the run, and a new run gets all of it", path=registry.module.path,
            )  # fmt: skip
    if found:
        return
    for module in context.modules(b"from roll.", b"import roll."):
        for call in class_calls(module):
            if any(_PIPELINE.fullmatch(name) for name in context.program.resolve(module, call.func)):
                _wrap(context, module, call)


def _wrap(context: Context, module: Module, call: ast.Call) -> None:
    context.found(NAME, "imported")
    site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", process="driver")
    if ".tee(" in module.source.text:
        site.outcome, site.why = "already", "its tracker sends to Probe"
        return
    if refuse_shadowed(context, module, site):
        return
    alias = context.tracking.alias(module, "core", "adapter", beside="roll")
    line = f"{{0}}.tracker = {alias}.tee({{0}}.tracker)"
    config = place.argument(call, 0, "pipeline_config")
    if config is None or not after_building(
        context, module, call, line, NAME, "the tracker that the config names, and Probe", base="pipeline"
    ):
        ask(
            context, site, "tracker-by-hand", "this pipeline is built where no statement can stand beside it",
            f"keep it in a name, and set its tracker: pipeline.tracker = {alias}.tee(pipeline.tracker)",
        )  # fmt: skip
        return
    stmt = module.statement(call)
    point = place.before(module, stmt, [f"{alias}.init(config={module.code(config)})"])
    if point is not None:
        context.edit(
            module.path, point.offset, point.offset, point.text, rule=NAME, reason="open Probe's run in the driver"
        )
    site.outcome, site.why, site.strategy = "covered", "the driver's tracker sends each row to Probe too", "register"
    context.note(
        "warning", "tags-stay", "keys are sent with ROLL's reducer tags (@mean): only its own source can take them off",
        path=module.path, line=site.line,
    )  # fmt: skip


RULE = Rule(
    name=NAME, title="ROLL", needles=(b"from roll.", b"import roll.", b"tracker_registry"), plan=plan, order=125
)
