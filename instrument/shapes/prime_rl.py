"""prime-rl (PrimeIntellect-ai/prime-rl): module functions that fan out to the monitors of a process.

Read at v0.5.0, v0.8.0 and 559b4477 (2026-08-21), `prime_rl/monitors/__init__.py`. As a fork its `setup`, `log` and
`finalize` go to Probe as well, without a config field, which would have to be added in a package of its own. The
orchestrator and the trainer are two processes: each opens a run, of the same name. `clean_exit`, which closes W&B's run
with an exit code, closes Probe's. Until v0.8 monitors are objects that know their rank by
themselves: W&B's is mirrored as a tracker.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.rules import Rule
from instrument.shapes._signatures import Function, Wiring, claim, mentions_probe, of, opening, parameters

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "prime_rl"
_WHY = "each process that sets monitors up opens a run and sends its rows"
_ROW = '{k: v for k, v in data.items() if k != "step"}'


def plan(context: Context) -> None:
    """Edit the monitors where they are in the repository."""
    modules = [m for m in context.modules(b"def setup(", b"def setup_monitor(") if of(m, "prime_rl")]
    wired = [m for m in modules if _functions(context, m)]
    mirrored = [m for m in modules if _objects(context, m)]
    folders = {module.path.rpartition("/")[0] for module in (*wired, *mirrored)}
    for module in context.modules(b"wandb") if folders else ():
        if not any(module.path.startswith(f"{folder}/") for folder in folders):
            _past_the_monitors(context, module)
            if wired:
                _close(context, module)
        elif wired:
            claim(context, NAME, module)
    if wired:
        context.note(
            "info", "two-runs", "orchestrator and trainer each open a run of the same name: W&B's shared run has no "
            "counterpart unless both are given one", path=wired[0].path,
            next="start them under `probe exec -- uv run rl ...`: both join the run that it opens",
        )  # fmt: skip


def _functions(context: Context, module: Module) -> bool:
    setup, log = module.definition("setup"), module.definition("log")
    if not isinstance(setup, Function) or not isinstance(log, Function) or not module.binds("MONITORS"):
        return False
    context.found(NAME, "monitors of a module")
    wiring = Wiring(context, NAME, module, setup, "setup, log, finalize", process="each process", why=_WHY)

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core")
        names = parameters(setup)
        line = opening(
            context, alias, "wandb and wandb.name" if "wandb" in names else None,
            "run_config" if "run_config" in names else None,
        )  # fmt: skip
        last = setup.body[-1]
        wiring.put(place.after(module, last, ["", line]), "open Probe's run on the rank that has monitors")
        lines = ["if isinstance(data, dict):", f"    {alias}.log({_ROW}, step=step)"]
        wiring.put(place.at_top_of(module, log, lines), "send each row; episodes stay with the monitors")
        finalize = module.definition("finalize")
        if isinstance(finalize, Function):
            wiring.put(place.at_top_of(module, finalize, [f"{alias}.finish()"]), "close it before the process is ended")

    wiring.write(mentions_probe(log), fill)
    claim(context, NAME, module)
    return True


def _objects(context: Context, module: Module) -> bool:
    """`setup_monitor` of v0.8 and before: each monitor knows its rank by itself, so W&B's is mirrored, as a tracker."""
    setup = module.definition("setup_monitor")
    if not isinstance(setup, Function) or not module.binds("_MONITOR"):
        return False
    context.found(NAME, "monitor objects (until v0.8)")
    context.note(
        "info", "follows-wandb", "each monitor knows its rank by itself: Probe follows the W&B monitor, and is off "
        "where that is off", path=module.path, line=setup.lineno,
    )  # fmt: skip
    return True


def _close(context: Context, module: Module) -> None:
    """`wandb.finish(exit_code=...)` in `clean_exit`, which is around every process's main function."""
    calls = [call for call in module.calls() if "wandb.finish" in context.program.resolve(module, call.func)]
    if not calls:
        return
    wiring = Wiring(context, NAME, module, calls[0], "wandb.finish", process="each process", why="closed as W&B's is")

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core")
        for call in calls:
            code = place.argument(call, 0, "exit_code")
            failed = isinstance(code, ast.Constant) and code.value
            line = f'{alias}.finish("failed")' if failed else f"{alias}.finish()"
            wiring.put(place.before(module, module.statement(call), [line]), "close Probe's run as W&B's is closed")

    wiring.write(any(mentions_probe(n) for n in module.tree.body), fill)
    claim(context, NAME, module, calls)


def _past_the_monitors(context: Context, module: Module) -> None:
    for call in module.calls():
        if "wandb.log" in context.program.resolve(module, call.func):
            context.claim(module.path, module.start(call), NAME)
            why = "it goes straight to W&B, past the monitors, at a time and not at a step"
            site = context.site(NAME, "emit", module, call, module.code(call.func), outcome="left", why=why)
            context.note(
                "info", "past-the-monitors", f"{site.what}: {why}; Probe does not get it", path=module.path,
                line=site.line,
            )  # fmt: skip


RULE = Rule(name=NAME, title="prime-rl", needles=(b"prime_rl",), plan=plan, order=128)
