"""Ray Tune: a run for each trial, opened and closed in the function that the trial runs, with the trial's config.

Nothing is added to `RunConfig(callbacks=)`: what stands there is pickled when the Tuner is built (ray 2.60). A trainable
that is a class gets its run in its own methods; names of algorithms are asked about.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan.place import argument
from instrument.plan.rules import Rule
from instrument.shapes._building import ask, calls_of
from instrument.shapes._ray import Trainables
from instrument.shapes._trainable import wire_classes
from instrument.shapes.ray_train import REPORTS as TRAIN_REPORTS

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "ray_tune"
_RUNNERS = frozenset({"ray.tune.Tuner", "ray.tune.tuner.Tuner", "ray.tune.run", "ray.tune.run_experiments"})
_REPORTS = frozenset({"ray.tune.report", "ray.tune.session.report", *TRAIN_REPORTS})


def plan(context: Context) -> None:
    """Open a run in each trial and mirror what it reports."""
    trainables = Trainables(context, NAME, "Ray Tune")
    paths = context.paths(
        b"ray.tune", b"import tune", b"tune.report", also=(b"Tuner(", b"tune.run", b" run(", b"report(")
    )
    if any(context.program.finder.find("ray", path) is not None for path in paths):
        return  # this is Ray itself
    modules = context.program.parsed(paths)
    runners: list[tuple[Module, ast.Call, ast.expr | None]] = []
    for module in modules:
        for method in ("Tuner", "run"):
            for call in calls_of(context, module, method, _RUNNERS):
                runners.append((module, call, argument(call, 0, "trainable", "run_or_experiment")))
    if not runners:
        return
    context.found(NAME)
    context.pass_over("register", "a callback in RunConfig is pickled when the Tuner is built, and runs in the driver")
    for module, call, trainable in runners:
        before = len(trainables.functions)
        if trainable is not None:
            trainables.handed(module, trainable)
            if wire_classes(context, trainables, module, trainable):
                continue
        if len(trainables.functions) == before and not _is_ray_trainer(context, module, trainable):
            site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)")
            ask(
                context, site, "trainable-not-a-function",
                "what this runs is not a function that can be seen here: Probe does not get its trials",
                "open a run in the trainable by hand, one a trial",
            )  # fmt: skip
    for module in modules:
        for call in calls_of(context, module, "report", _REPORTS):
            if context.claim(module.path, module.start(call), NAME):
                trainables.report(module, call)


def _is_ray_trainer(context: Context, module: Module, trainable: ast.expr | None) -> bool:
    """Tune over a Ray Train trainer: its workers report, and they are wired by that shape."""
    if trainable is None:
        return False
    return any(
        n.startswith("ray.train.") and n.endswith("Trainer()") for n in context.program.resolve(module, trainable)
    )


RULE = Rule(
    name=NAME,
    title="Ray Tune",
    needles=(b"ray.tune", b"import tune", b"tune.report", b"tune.Tuner"),
    plan=plan,
    order=140,
)
