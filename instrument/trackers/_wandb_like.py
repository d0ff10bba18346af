"""Trackers whose API is W&B's in short: init, log(metrics, step), finish, and a run handle that has them too."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan.alongside import plan_tracker
from instrument.plan.bind import repeatable
from instrument.plan.config import config_at
from instrument.plan.emission import Ask, Emission, Left, Opening, Tracker, mapping_call, scalar_call
from instrument.plan.place import argument
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module


#: `log_scalar(*, key, value, step=None)`.
_keywords = scalar_call((99, ("key",)), (99, ("value",)), (99, ("step",)), missing_step="")


def rule(
    name: str, title: str, *, metrics: tuple[str, ...], run_name: str, order: int, media: dict[str, str],
    runs: tuple[str, ...] = (), scalar: str = "",
) -> tuple[Tracker, Rule]:  # fmt: skip
    """The tracker and its rule.

    `metrics` are the names of log's first parameter, `run_name` that of init's name, `runs` further ways to the open run,
    `scalar` a run's method that takes one key and value.
    """

    def arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
        given = []
        for keyword, source in (("name", run_name), ("config", "config")):
            value = argument(call, None, source)
            if value is not None and repeatable(value):
                given.append(f"{keyword}={module.code(value)}")
            elif keyword == "config" and (found := config_at(context, module, call)):
                given.append(f"config={found}")
        return given

    objects = (f"{name}.init()", f"{name}.Run()", *runs)
    plain = mapping_call(0, metrics, 1, automatic=False)

    def read(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
        """After a row with a step the next one without goes on past it, which Probe's does when that row is closed."""
        found = plain(context, module, call)
        stepped = argument(call, 1, "step") is not None
        if not isinstance(found, Emission) or not stepped or not _counts_too(module):
            return found
        return replace(found, text=lambda texts: f"{found.text(texts)}, commit=True")

    tracker = Tracker(
        name=name,
        title=title,
        packages=frozenset({name}),
        needles=(name.encode(),),
        opens={f"{name}.init": Opening(arguments=arguments, ambient=lambda module, call: "")},
        emits={
            **{f"{root}.log": read for root in (name, *objects)},
            **({f"{run}.{scalar}": _keywords for run in objects} if scalar else {}),
        },
        closes=frozenset({f"{name}.finish", *(f"{run}.finish" for run in objects)}),
        leaves={f"{root}.{method}": why for root in (name, *objects) for method, why in media.items()},
    )
    return tracker, Rule(
        name=name, title=title, needles=tracker.needles, plan=partial(plan_tracker, tracker=tracker), order=order
    )


def _counts_too(module: Module) -> bool:
    """Whether a file also has `log` calls without a step."""
    return any(
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "log"
        and len(call.args) == 1
        and not any(k.arg in ("step", None) for k in call.keywords)
        for call in module.calls()
    )
