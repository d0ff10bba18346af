"""SkyRL (NovaSky-AI/SkyRL): verl's class with one backend at a time, built in a Ray task.

Read in skyrl 0.3.0 and a9564572 (2026-08-21), `skyrl/train/utils/tracking.py`, and skyrl_train 0.1.0 to 0.4.0,
`skyrl_train/utils/tracking.py`. As a fork each method of the class goes to Probe: an entry in its list would take the
place of the backend that the config names. Code that only imports SkyRL overrides `get_tracker` of its experiment
class, the framework's own hook, and so keeps that backend as well.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.alongside import plan_tracker
from instrument.plan.rules import Rule
from instrument.shapes._building import refuse_shadowed
from instrument.shapes._signatures import list_builders, of, tracking_classes, wire_tracking_class
from instrument.shapes.verl import tracker_of

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.emission import Tracker
    from instrument.repo.names import Module

NAME = "skyrl"

_EXPERIMENT = frozenset(
    f"{package}.entrypoints.main_base.BasePPOExp" for package in ("skyrl.train", "skyrl_train")
)  # fmt: skip
_HOOK = ("{alias}.init(name={cfg}.trainer.run_name, config={cfg})", "return {alias}.tee(super().get_tracker())")


def plan(context: Context, tracker: Tracker) -> None:
    """Edit the class where it is in the repository, else override `get_tracker` in the repository's experiments."""
    layers = [layer for layer in tracking_classes(context) if of(layer.module, "skyrl", "skyrl_train")]
    for layer in layers:
        context.found(NAME, f"class {layer.node.name}")
        if wire_tracking_class(context, NAME, layer):
            context.note(
                "info", "task-token", f"{layer.module.path} is used in a Ray task: PROBE_TOKEN reaches it through "
                "prepare_runtime_environment, which names each variable that it hands on", path=layer.module.path,
                next="PROBE_MODE=disabled leaves Probe off",
            )  # fmt: skip
    if layers:
        list_builders(context, NAME, layers)
        return
    for module in context.modules(b"BasePPOExp"):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and _is_experiment(context, module, node):
                _override(context, module, node)
    plan_tracker(context, tracker)


def _is_experiment(context: Context, module: Module, node: ast.ClassDef) -> bool:
    return any(context.program.resolve(module, base) & _EXPERIMENT for base in node.bases)


def _override(context: Context, module: Module, node: ast.ClassDef) -> None:
    context.found(NAME, "imported")
    site = context.site(NAME, "build", module, node, f"class {node.name}", process="Ray task", strategy="register")
    own = next((s for s in node.body if isinstance(s, ast.FunctionDef) and s.name == "get_tracker"), None)
    if own is not None:
        already = "tee(" in module.code(own)
        site.outcome = "already" if already else "asked"
        site.why = "its tracker sends to Probe" if already else "it builds a tracker of its own"
        if not already:
            context.note(
                "question", "own-tracker", f"{node.name}.get_tracker: {site.why}; Probe gets what it is wrapped for",
                path=module.path, line=own.lineno, next="return probe.tee(...) of what it returns",
            )  # fmt: skip
        return
    if refuse_shadowed(context, module, site):
        return
    alias = context.tracking.alias(module, "core", "adapter", beside=module_root(module))
    lines = [line.format(alias=alias, cfg="self.cfg") for line in _HOOK]
    text = ["def get_tracker(self):", *(f"    {line}" for line in lines)]
    last = node.body[-1]
    if isinstance(last, ast.Pass) and len(node.body) == 1:
        text = ["", *text]
    point = place.after(module, last, ["", *text] if text[0] else text)
    if point is None:
        site.outcome, site.why = "asked", "no method can stand at the end of this class"
        return
    context.edit(
        module.path, point.offset, point.offset, point.text, rule=NAME,
        reason="the framework's own hook: the tracker that the config names, and Probe",
    )  # fmt: skip
    site.outcome, site.why = "covered", "its tracker sends each row to Probe too, and a crash as failed"


def module_root(module: Module) -> str:
    """The package of SkyRL that a file imports."""
    return "skyrl_train" if "skyrl_train" in module.source.text else "skyrl"


TRACKER = tracker_of(
    NAME, "SkyRL's Tracking", "skyrl", "skyrl.train.utils.tracking.Tracking", "skyrl_train.utils.tracking.Tracking"
)

RULE = Rule(name=NAME, title="SkyRL", needles=(b"skyrl",), plan=partial(plan, tracker=TRACKER), order=122)
