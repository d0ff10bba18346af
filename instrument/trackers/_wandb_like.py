"""Trackers whose API is W&B's in short: init, log(metrics, step), finish, and a run handle that has them too."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.bind import repeatable
from instrument.plan.config import config_at
from instrument.plan.emission import Opening, Tracker, mapping_call
from instrument.plan.place import argument
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module


def rule(
    name: str, title: str, *, metrics: tuple[str, ...], run_name: str, order: int, media: dict[str, str]
) -> tuple[Tracker, Rule]:
    """The tracker and its rule. `metrics` are the names of log's first parameter, `run_name` that of init's name."""

    def arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
        given = []
        for keyword, source in (("name", run_name), ("config", "config")):
            value = argument(call, None, source)
            if value is not None and repeatable(value):
                given.append(f"{keyword}={module.code(value)}")
            elif keyword == "config" and (found := config_at(context, module, call)):
                given.append(f"config={found}")
        return given

    runs = (f"{name}.init()", f"{name}.Run()")
    read = mapping_call(0, metrics, 1, automatic=False)
    tracker = Tracker(
        name=name,
        title=title,
        packages=frozenset({name}),
        needles=(name.encode(),),
        opens={f"{name}.init": Opening(arguments=arguments, ambient=lambda module, call: "")},
        emits={f"{name}.log": read, **{f"{run}.log": read for run in runs}},
        closes=frozenset({f"{name}.finish", *(f"{run}.finish" for run in runs)}),
        leaves={f"{root}.{method}": why for root in (name, *runs) for method, why in media.items()},
        rank=30,
    )
    return tracker, Rule(
        name=name, title=title, needles=tracker.needles, plan=partial(plan_tracker, tracker=tracker), order=order
    )
