"""oat (sail-sg/oat): `self._wandb` on rank 0 of the learner, None where `--use-wb` is off.

Read at 0.2.3 (c1a074c3, 2025-10-31); the same since 0.0.9. Rows have no step of their own: they get the learner's
`self.steps`. Learners end with `lp.stop()`, which kills processes, so Probe is closed before it. `use_wb` holds the
login of W&B and is left out of the config. A learner outside oat inherits it all and needs oat's source edited.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.rules import Rule
from instrument.shapes._handles import above_guards, opened, openings, rank_guard
from instrument.shapes._signatures import Wiring, claim, mentions_probe, of, opening

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "oat"
_HANDLE = "self._wandb"


def plan(context: Context) -> None:
    """Edit the learners where they are in the repository."""
    modules = [module for module in context.modules(b"_wandb") if of(module, "oat")]
    if not any(True for module in modules for _ in openings(context, module)):
        return
    context.found(NAME)
    for module in modules:
        _wire(context, module)
        claim(context, NAME, module)


def _calls(module: Module, method: str) -> list[ast.Call]:
    return [call for call in module.calls() if module.code(call.func) == f"{_HANDLE}.{method}"]


def _wire(context: Context, module: Module) -> None:
    opens, logs, closes = list(openings(context, module)), _calls(module, "log"), _calls(module, "finish")
    if not (opens or logs or closes):
        return
    node = opens[0][1] if opens else (logs or closes)[0]
    wiring = Wiring(
        context, NAME, module, node, _HANDLE, process="rank 0 of the learner",
        why="Probe gets the rows of the learner's first rank, with W&B on or off",
    )  # fmt: skip

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core", "secrets")
        for guard, call in opens:
            name, config = opened(call, module)
            line, rank = opening(context, alias, name, config), rank_guard(module, guard.test)
            lines = [f"if {rank}:", f"    {line}"] if rank else [line]
            wiring.put(place.before(module, guard, lines), "open Probe's run on the process that logs")
        for call in logs:
            row = place.argument(call, 0, "data")
            top = above_guards(module, module.statement(call), _HANDLE)
            line = f"{alias}.log({module.code(row)}, step=self.steps)" if isinstance(row, ast.Name) else ""
            wiring.put(place.before(module, top, [line]) if line else None, "send the row at the learner's step")
        for call in closes:
            top = above_guards(module, module.statement(call), _HANDLE)
            wiring.put(place.before(module, top, [f"{alias}.finish()"]), "close it before lp.stop() ends the processes")

    wiring.write(any(mentions_probe(n) for n in module.tree.body), fill)


RULE = Rule(name=NAME, title="oat", needles=(b"self._wandb",), plan=plan, order=124)
