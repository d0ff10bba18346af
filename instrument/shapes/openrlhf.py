"""OpenRLHF: loggers and handles that are None where their flag is off, used one by one.

Read in 0.11.2 and 3c3be623 (2026-08-13); `--use_wandb` in place of `--logger.wandb.key` until 0.10.1. PPO logs from a
Ray actor through `WandbLogger` and `TensorboardLogger`; SFT, reward and DPO trainers from rank 0 through W&B or else
TensorBoard. Probe's calls stand before each of those, under the rank's guard alone. The arguments hold the W&B login
(`logger.wandb.key`), which is left out of the config. Code that only runs `openrlhf.cli` has no place to edit.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.rules import Rule
from instrument.shapes._handles import above_guards, opened, openings, rank_guard, rows_by_scalar
from instrument.shapes._signatures import Wiring, calls_in, claim, mentions_probe, of, opening

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "openrlhf"
_WHY = "Probe gets each row where the loggers get it, whichever of them are on"
_PREFIXES = {"log_train": "train/", "log_eval": "eval/"}


def plan(context: Context) -> None:
    """Edit OpenRLHF's trainers where they are in the repository."""
    found = [module for module in context.modules(b"WandbLogger", b"wandb_logger", b"_wandb") if of(module, "openrlhf")]
    if not found:
        _ask_about_the_command(context)
        return
    context.found(NAME)
    names = [name for module in found for name in _run_names(context, module)]
    for module in found:
        builders = list(_builders(module))
        calls = list(_logger_calls(module))
        opens = list(openings(context, module))
        if builders or calls:
            _wire_loggers(context, module, builders, calls, names[0] if names else None)
        elif opens or _closes(module):
            _wire_handles(context, module, opens)
        claim(context, NAME, module)


# -- PPO: logger objects -----------------------------------------------------------------------------------------------


def _run_names(context: Context, module: Module) -> list[str]:
    """What WandbLogger names its run, of `args`."""
    found = []
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and node.name == "WandbLogger":
            for call in calls_in(node):
                if "wandb.init" in context.program.resolve(module, call.func):
                    name = opened(call, module)[0]
                    found += [name] if name and name.startswith("args.") else []
    return found


def _builders(module: Module) -> list[tuple[ast.Assign, str]]:
    """`self.x = WandbLogger(ARGS) if ... else None` and its like, with ARGS."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            for call in calls_in(node.value):
                if isinstance(call.func, ast.Name) and call.func.id in ("WandbLogger", "TensorboardLogger"):
                    found.append((node, module.code(call.args[0]) if call.args else "self.args"))
    return found


def _logger_calls(module: Module) -> list[ast.Call]:
    """The calls of the W&B logger: each has one of the TensorBoard logger beside it."""
    return [
        call
        for call in module.calls()
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in (*_PREFIXES, "close")
        and module.code(call.func.value) == "self.wandb_logger"
    ]


def _wire_loggers(
    context: Context, module: Module, builders: list[tuple[ast.Assign, str]], calls: list[ast.Call], name: str | None
) -> None:
    node = builders[0][0] if builders else calls[0]
    wiring = Wiring(context, NAME, module, node, "wandb_logger", process="Ray actor", why=_WHY)

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core", "secrets")
        if builders:
            last, args = builders[-1]
            line = opening(context, alias, name.replace("args", args, 1) if name else None, args)
            wiring.put(place.after(module, last, [line]), "open Probe's run beside the other loggers")
        for call in calls:
            guard = above_guards(module, module.statement(call), "self.wandb_logger")
            assert isinstance(call.func, ast.Attribute)
            if call.func.attr == "close":
                wiring.put(place.before(module, guard, [f"{alias}.finish()"]), "close it where the loggers are closed")
            elif len(call.args) == 2:
                step, row = (module.code(argument) for argument in call.args)
                line = _row(alias, row, _PREFIXES[call.func.attr], step)
                wiring.put(place.before(module, guard, [line]), "send the row, whichever loggers are on")

    wiring.write(any(mentions_probe(n) for n in module.tree.body), fill)


def _row(alias: str, row: str, prefix: str, step: str) -> str:
    return f'{alias}.log({{f"{prefix}{{k}}": v for k, v in {row}.items()}}, step={step})'


# -- SFT, reward and DPO trainers: handles -----------------------------------------------------------------------------


def _closes(module: Module) -> list[ast.Call]:
    return [call for call in module.calls() if module.code(call.func) == "self._wandb.finish"]


def _wire_handles(context: Context, module: Module, opens: list[tuple[ast.If, ast.Call]]) -> None:
    node = opens[0][1] if opens else _closes(module)[0]
    wiring = Wiring(context, NAME, module, node, "self._wandb", process="rank 0", why=_WHY)

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core", "secrets")
        for guard, call in opens[:1]:
            name, config = opened(call, module)
            line, rank = opening(context, alias, name, config), rank_guard(module, guard.test)
            lines = [f"if {rank}:", f"    {line}", ""] if rank else [line]
            wiring.put(place.before(module, guard, lines), "open Probe's run on the process that logs")
        for loop, row, prefix, step in rows_by_scalar(module):
            top = above_guards(module, loop, "self._")
            wiring.put(place.before(module, top, [_row(alias, row, prefix, step)]), "send the row once, before either")
        for close in _closes(module):
            top = above_guards(module, module.statement(close), "self._wandb")
            wiring.put(place.before(module, top, [f"{alias}.finish()"]), "close it where the trackers are closed")

    wiring.write(any(mentions_probe(n) for n in module.tree.body), fill)


def _ask_about_the_command(context: Context) -> None:
    for path in context.repo.having(b"openrlhf.cli", suffixes=(".sh", ".slurm", ".sbatch", ".py")):
        if context.repo.kind(path) == "own":
            context.found(NAME, "its command line")
            context.note(
                "question", "installed-tracker", "openrlhf.cli logs in a Ray actor of the installed package, which has "
                "no place for a logger", path=path, next="import the run from W&B afterwards (`instrument import`), or "
                "run a clone of OpenRLHF that `instrument apply` has edited",
            )  # fmt: skip
            return


RULE = Rule(name=NAME, title="OpenRLHF", needles=(b"openrlhf",), plan=plan, order=123)
