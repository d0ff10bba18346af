"""Trainers that are installed programs: LLaMA-Factory, Axolotl, torchtune, TRL's and Swift's CLI, Ultralytics' `yolo`.

There is no code in the repository to edit, so the plan says how their curves get to Probe: from W&B, after the run.
`report_to: probe` is never written: it raises unless the SDK's integration was imported in that process
(probe-research 0.337, transformers 4.46 to 5).
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from instrument.errors import SourceError
from instrument.launch._common import ORDER, scripts
from instrument.launch._shell import Command
from instrument.plan.model import Site
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context

#: Program, the words after it that start training, as its documentation gives them.
_PROGRAMS: dict[str, frozenset[str]] = {
    "llamafactory-cli": frozenset(("train",)),
    "lmf": frozenset(("train",)),
    "axolotl": frozenset(("train",)),
    "trl": frozenset(("sft", "dpo", "grpo", "kto", "orpo", "rloo", "reward", "online-dpo", "ppo")),
    "tune": frozenset(("run",)),
    "swift": frozenset(("sft", "pt", "rlhf", "rl")),
    "oumi": frozenset(("train",)),
    "litgpt": frozenset(("finetune", "finetune_lora", "finetune_full", "pretrain")),
    "mlx_lm.lora": frozenset(),
    "yolo": frozenset(("train", "mode=train")),
}
_MODULES = {
    "axolotl.cli.train": "axolotl",
    "llamafactory.cli": "llamafactory-cli",
    "llamafactory.launcher": "llamafactory-cli",
    "mlx_lm.lora": "mlx_lm.lora",
}
NEEDLES = (
    *(name.encode() for name in (*_PROGRAMS, *_MODULES) if name not in ("tune", "trl", "swift", "lmf", "yolo")),
    *(b"tune run ", b"trl ", b"swift ", b"lmf ", b"yolo "),
)
_WANDB = re.compile(r"(?m)^[^#\n]*(?:wandb|WandBLogger)|(?m:^\s*report_to\s*:\s*(?:all|\[?\s*wandb))")
#: LLaMA-Factory hands callbacks on to its Trainers, from code alone.
_LAUNCHER = (
    "or train from a file of three lines, started as it is by python or torchrun with the same YAML: "
    "`from llamafactory.train.tuner import run_exp`, `from probe_tracking import ProbeCallback`, "
    "`run_exp(callbacks=[ProbeCallback()])`, beside what `instrument module --part huggingface` writes"
)

#: What else a person can do about a program: train from code, which instrument has a shape for.
_FROM_CODE = {
    "llamafactory-cli": _LAUNCHER,
    "lmf": _LAUNCHER,
    "yolo": "or train from Python (`YOLO(...).train(...)`), which `instrument apply` covers; "
    "W&B and TensorBoard are switched on by `yolo settings wandb=True`, `tensorboard=True`",
}


def plan(ctx: Context) -> None:
    """Say where the curves of such a trainer come from."""
    for path, script in scripts(ctx, *NEEDLES):
        source = ctx.repo.source(path)
        for command in script.commands:
            program = trainer(command)
            if program is None:
                continue
            line = source.line_of(command.start)
            config = config_file(ctx, command, path.rpartition("/")[0])
            if any(s.path == config and s.outcome in ("covered", "already", "left") for s in ctx.plan.sites):
                continue  # a shape has a place for Probe in it, or in the recipe
            _say(ctx, path, line, program, config, command)


def trainer(command: Command) -> str | None:
    """The trainer that a command starts, also behind `accelerate launch -m`, `uv run`, `torchrun -m`, or None."""
    values = command.values
    for i, value in enumerate(values):
        base = value.rsplit("/", 1)[-1]
        if base in _PROGRAMS and (i == 0 or values[i - 1] != "-m"):
            verbs = _PROGRAMS[base]
            # Ultralytics takes its mode anywhere: `yolo detect train`, `yolo task=detect mode=train`.
            following = values[i + 1 :] if base == "yolo" else values[i + 1 : i + 2]
            if not verbs or verbs.intersection(following):
                return base
        if value in _MODULES and i and values[i - 1] == "-m":
            return _MODULES[value]
        if base in ("echo", "printf", "pip", "conda", "git"):
            return None
    return None


def config_file(ctx: Context, command: Command, folder: str) -> str | None:
    """The YAML file of the repository that the command names, or None."""
    for value in command.values:
        for part in (value, value.partition("=")[2]):
            if part.endswith((".yaml", ".yml")):
                for place in (part, posixpath.join(folder, part)):
                    place = posixpath.normpath(place)
                    if place in ctx.repo.files:
                        return place
    return None


def _say(ctx: Context, path: str, line: int, program: str, config: str | None, command: Command) -> None:
    text = " ".join(command.values)
    if config is not None:
        try:
            text += "\n" + ctx.repo.source(config).text
        except SourceError:
            pass
    ctx.found("hf_cli", program)
    ctx.pass_over("register", f"{program} is an installed program: a callback would have to be given to it in code")
    ctx.pass_over("alongside", f"no file of this repository holds the training code of {program}")
    driven = f", driven by {config}" if config else ""
    if _WANDB.search(text):
        message = (
            f"{program} is an installed program{driven}: there is no code here to instrument; "
            "its curves come from W&B after the run"
        )
        next_ = (
            "after training: instrument import . --run (reads wandb/, offline or online runs), or by W&B's server: "
            "probe import wandb ENTITY/PROJECT/RUN --run RUN"
        )
    else:
        message = (
            f"{program} is an installed program{driven}: there is no code here to instrument, "
            "and it is not told to report to W&B, whose run could be imported"
        )
        next_ = "let it report to wandb or tensorboard (W&B offline is enough), and after training: instrument import . --run"
    if program in _FROM_CODE:
        next_ += "; " + _FROM_CODE[program]
    ctx.plan.sites.append(
        Site(
            rule=RULE.name,
            kind="launch",
            path=path,
            line=line,
            what=f"{program} ...",
            process=program,
            outcome="left",
            strategy="import",
            why=message,
        )
    )
    ctx.note("warning", "import-after-run", message, path=path, line=line, next=next_)


RULE = Rule(name="yaml_trainer", title="Trainers driven by YAML", needles=NEEDLES, plan=plan, order=ORDER)
