"""Ray Train: the function that each worker runs, and what it reports (`ray.train.report`, 2.9 to 2.60).

The driver's own run would stay empty: metrics are reported in the workers. `report` takes no step; its rows are
counted as Ray counts them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.plan.place import argument
from instrument.plan.rules import Rule
from instrument.shapes._building import calls_of, class_calls
from instrument.shapes._ray import Trainables

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "ray_train"
_TRAINER = re.compile(r"ray\.train(?:\.\w+)*\.\w*Trainer")
REPORTS = frozenset({"ray.train.report", "ray.air.session.report", "ray.train.session.report"})


def plan(context: Context) -> None:
    """Open a run in the first worker and mirror its reports."""
    trainables = Trainables(context, NAME, "Ray Train")
    paths = context.paths(b"ray.train", b"ray import train", b"ray.air", also=(b"Trainer(", b"report("))
    if any(context.program.finder.find("ray", path) is not None for path in paths):
        return  # this is Ray itself
    modules = context.program.parsed(paths)
    built = False
    for module in modules:
        for call in class_calls(module):
            if any(_TRAINER.fullmatch(name) for name in context.program.resolve(module, call.func)):
                built = True
                loop = argument(call, 0, "train_loop_per_worker")
                if loop is not None:
                    trainables.handed(module, loop)
    if not built:
        return
    context.found(NAME)
    context.pass_over("register", "a callback of the trainer would have to be pickled and sees only what is reported")
    for module in modules:
        for call in calls_of(context, module, "report", REPORTS):
            if context.claim(module.path, module.start(call), NAME):
                trainables.report(module, call)


RULE = Rule(name=NAME, title="Ray Train", needles=(b"ray.train", b"from ray import train"), plan=plan, order=130)
