"""torchtune: its metric loggers, where a recipe builds one, or in the YAML of a recipe that is installed.

Read in torchtune 0.6.1: recipes build the logger that `metric_logger._component_` names on rank 0, and give it the config and
each row with its step; names are imported from where `tune` is started. W&B's and TensorBoard's loggers send from
installed code, so that nothing of them is mirrored elsewhere.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.launch._yaml import Node
from instrument.plan.rules import Rule
from instrument.shapes._building import calls_of, class_calls
from instrument.shapes._callbacks import own_source
from instrument.shapes._named import cover, mappings, own_package, site_of
from instrument.shapes._recorded import Recorder, record_built

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module
    from instrument.repo.source import Source

NAME = "torchtune"
_RECORDER = Recorder(
    rule=NAME, title="torchtune", base="metric_logger",
    why="what the metric logger gets goes to Probe, at the recipe's steps",
)  # fmt: skip
_LOGGERS = r"torchtune\.(?:training|utils)\.(?:metric_logging\.)?\w+Logger"
_CLASS = re.compile(_LOGGERS)
_INSTANTIATE = frozenset({"torchtune.config.instantiate", "torchtune.config._instantiate.instantiate"})


def plan(context: Context) -> None:
    """Have every metric logger recorded; that of an installed recipe in its YAML."""
    if own_package(context, NAME):
        return
    recipes = [module for module in context.modules(b"torchtune", also=(b"ogger",)) if _recipe(context, module)]
    for source, root in mappings(context, b"metric_logger:", b"torchtune."):
        _named(context, source, root, recipes)


def _recipe(context: Context, module: Module) -> bool:
    """Whether a file builds a metric logger, which is then recorded."""
    if own_source(context, module, NAME):
        return False
    built = [call for call in class_calls(module) if _resolves(context, module, call)]
    for call in calls_of(context, module, "instantiate", _INSTANTIATE):
        if call.args and re.search(r"\bmetric_logger\b", module.code(call.args[0])):
            built.append(call)
    for call in built:
        context.found(NAME)
        site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register")
        record_built(context, module, call, _RECORDER, site, NAME)
    return bool(built)


def _resolves(context: Context, module: Module, call: ast.Call) -> bool:
    return any(_CLASS.fullmatch(name) for name in context.program.resolve(module, call.func))


def _named(context: Context, source: Source, root: Node, recipes: list[Module]) -> None:
    component = root.get("metric_logger", "_component_")
    if component is None or component.kind != "scalar":
        return
    ours = component.value.removeprefix("probe_tracking.")
    if not _CLASS.fullmatch(ours):
        return
    site = site_of(context, NAME, source, component.start, f"_component_: {ours}")
    if ours != component.value:
        site.outcome, site.why = "already", "the logger is built by probe_tracking"
        context.opened_elsewhere = True
    elif recipes:
        site.outcome, site.why = "left", f"the recipe records its logger ({recipes[0].path})"
    else:
        offset = component.start + len(component.style)
        cover(
            context, site, offset, "probe_tracking.", "have the metric logger recorded, which stays as it is",
            "what the metric logger gets goes to Probe, at the recipe's steps", NAME,
        )  # fmt: skip


RULE = Rule(name=NAME, title="torchtune", needles=(b"torchtune",), plan=plan, order=160)
