"""slime (THUDM/slime): Miles' functions without a registry.

As a fork its tracker's source takes Probe's Miles backend (read at v0.2.0, v0.3.0 and 624b824a, 2026-08-21). Code that
only imports slime gets Probe's calls beside its own: a row's step is what the row holds under `step_key`.
"""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.alongside import plan_tracker
from instrument.plan.emission import Ask, Emission, Left, Opening, Tracker, Used
from instrument.plan.rules import Rule
from instrument.shapes import _facade

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "slime"

#: Where the functions were in each version, the newest first; `slime.logging_utils` in early forks.
MODULES = (
    "slime.observability.logging_utils", "slime.utils.logging_utils", "slime.utils.tracking_utils",
    "slime.logging_utils",
)  # fmt: skip

_FUNCTION = re.compile(rf"(?:repo:)?(?:{'|'.join(map(re.escape, MODULES))})\.(init_tracking|log|finish_tracking)")


def plan(context: Context, tracker: Tracker) -> None:
    """Edit slime's own tracker where it is in the repository, else log beside each call of it."""
    forks = [
        module for module in context.modules(b"def init_tracking")
        if "slime" in module.dotted.split(".") and _facade.is_facade(module)
    ]  # fmt: skip
    if not forks:
        plan_tracker(context, tracker)
        return
    context.found(NAME, "functions only")
    done = {module.path for module in forks if _facade.wire(context, NAME, module)}
    _facade.claim_trackers(context, NAME, forks)
    for found in _facade.calls(context, (b"logging_utils", b"tracking_utils"), done, _FUNCTION):
        if found.inside:
            site = found.site(context, NAME)
            site.outcome, site.why = "covered", "through the backend in slime's tracker"
            context.claim(found.module.path, found.module.start(found.call), NAME)


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    args = place.argument(call, 0, "args")
    return [f"config={module.code(args)}"] if isinstance(args, ast.Name | ast.Attribute) else []


def _row(context: Context, module: Module, call: ast.Call) -> Emission | Left | Ask:
    """`log(args, metrics, step_key)`: the step key is the row's x-axis, not one of its metrics."""
    metrics, key = place.argument(call, 1, "metrics"), place.argument(call, 2, "step_key")
    if metrics is None or key is None or place.has_splat(call):
        return Ask("its arguments are passed on by * or **")

    def text(texts: list[str]) -> str:
        row, at = texts
        if isinstance(metrics, ast.Dict) and row.startswith("{") and isinstance(key, ast.Constant):
            pairs = [(module.code(k), k, module.code(v)) for k, v in zip(metrics.keys, metrics.values) if k is not None]
            rest = [f"{name}: {value}" for name, k, value in pairs if getattr(k, "value", None) != key.value]
            step = [value for _, k, value in pairs if getattr(k, "value", None) == key.value]
            if len(step) == 1:
                return f"{{{', '.join(rest)}}}, step={step[0]}"
        return f"{{k: v for k, v in {row}.items() if k != {at}}}, step={row}.get({at})"

    return Emission(uses=(Used(metrics), Used(key, "key")), text=text)


TRACKER = Tracker(
    name=NAME,
    title="slime",
    packages=frozenset({"slime"}),
    needles=(b"slime", b"init_tracking"),
    opens={f"{module}.init_tracking": Opening(arguments=_arguments, gives_handle=False) for module in MODULES},
    emits={f"{module}.log": _row for module in MODULES},
    closes=frozenset(f"{module}.finish_tracking" for module in MODULES),
    closes_with_code=False,
)

RULE = Rule(name=NAME, title="slime", needles=(b"slime",), plan=partial(plan, tracker=TRACKER), order=110)
