"""Classes that Ray Tune runs as trials: the run opens in `setup`, gets what `step` returns, and closes in `cleanup`.

Tune calls `setup(config)` when the actor of a trial starts, `step()` for each result and `cleanup()` when the trial
ends or is stopped early; `reset_config(new_config)` begins another trial in the same actor, and its default says that
it can't (ray 2.60, `tune/trainable/trainable.py`). A trial that raises is not cleaned up: its run is found crashed.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.emission import Emission, Used
from instrument.shapes._building import refuse_shadowed
from instrument.shapes._ray import Function, Trainables, has_tracker

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

_BASES = frozenset({"ray.tune.Trainable", "ray.tune.trainable.Trainable", "ray.tune.trainable.trainable.Trainable"})


def wire_classes(context: Context, trainables: Trainables, module: Module, trainable: ast.expr) -> bool:
    """Record every class that an expression hands to Tune. False where there is none that can be edited."""
    classes = [
        (owner, definition)
        for value in context.program.resolve(module, trainable)
        for owner, definition in context.program.entities(value.removesuffix("()"))
        if isinstance(definition, ast.ClassDef) and context.repo.editable(owner.path)
    ]
    if not classes and isinstance(trainable, ast.Call) and trainable.args:
        return wire_classes(context, trainables, module, trainable.args[0])  # with_resources(Class, ...)
    own = [(owner, c) for owner, c in classes if any(context.program.resolve(owner, base) & _BASES for base in c.bases)]
    return bool(own) and all(_wire(context, trainables, owner, definition) for owner, definition in own)


def _wire(context: Context, trainables: Trainables, module: Module, definition: ast.ClassDef) -> bool:
    methods = {node.name: node for node in definition.body if isinstance(node, ast.FunctionDef)}
    setup, step = methods.get("setup"), methods.get("step")
    if setup is None or step is None or len(setup.args.args) < 2 or "reset_config" in methods:
        return False
    returns = [node for node in ast.walk(step) if isinstance(node, ast.Return) and module.function(node) is step]
    if not returns or any(node.value is None for node in returns) or not place.ends_block(step.body[-1]):
        return False
    site = context.site(
        trainables.name, "emit", module, step, f"{definition.name}.step", strategy="alongside", process="Ray worker"
    )
    if any(has_tracker(context, module, method) for method in methods.values()):
        site.outcome, site.why = "left", "the class logs to a tracker too, and that is mirrored"
        return True
    mirror = trainables.mirror(module)
    if mirror.existing.counterpart(setup.body[-1], "init") or _calls(mirror.existing.by_method.get("init", []), setup):
        site.outcome, site.why = "already", "it opens Probe's run"
        return True
    if refuse_shadowed(context, module, site):
        return True
    opened = place.at_top_of(module, setup, [f"{mirror.alias}.init(config={setup.args.args[1].arg})"])
    closed = _closing(module, definition, methods.get("cleanup"), f"{mirror.alias}.finish()")
    if opened is None or closed is None:
        return False
    for node in returns:
        assert node.value is not None
        sent = Emission(uses=(Used(node.value, "result"),), text=lambda texts: texts[0], automatic=True)
        if not mirror.log(node, sent):
            return False
    mirror.insert(opened, "open Probe's run in the process of the trial, with the trial's config")
    mirror.insert(closed, "close the run when the trial ends: no exit hook runs in Ray's workers")
    site.outcome, site.why = "covered", "probe.log gets each result, in a run of the trial's own"
    return True


def _calls(calls: list[ast.Call], function: Function) -> bool:
    return any(call in set(ast.walk(function)) for call in calls)


def _closing(
    module: Module, definition: ast.ClassDef, cleanup: ast.FunctionDef | None, text: str
) -> place.Insertion | None:
    """The close at the end of `cleanup`, or in a `cleanup` of its own, which the base class leaves empty."""
    if cleanup is not None:
        last = cleanup.body[-1]
        return place.before(module, last, [text]) if place.ends_block(last) else place.after(module, last, [text])
    return place.after(module, definition.body[-1], ["", "def cleanup(self):", f"    {text}"])
