"""Launch lines of RL trainers that are installed: verl, rllm, OpenRLHF, SkyRL, NeMo RL, prime-rl, AReaL, oat, Miles, slime.

Their rows go to a tracker layer of the installed package, which no file of this repository can hand to Probe. So each
line is said, with the way there is: verl 0.6 and later imports a module that an environment variable names, in each
process that imports verl (`verl/__init__.py` of 0.6.0, 0.7.0, 0.9.1; not in 0.5.0 and before), a Miles launcher can
register Probe, and all others are imported from W&B after the run. Where the source is in the repository its shape
edits it, and nothing is said here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instrument.errors import SourceError
from instrument.launch._common import ORDER, scripts
from instrument.plan.model import Site
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.launch._shell import Command
    from instrument.plan.context import Context


@dataclass(frozen=True)
class _Trainer:
    """One framework: the modules that `-m` starts, and the files of its checkout that a command names."""

    name: str
    title: str
    modules: re.Pattern[str] | None = None
    files: re.Pattern[str] | None = None


_TRAINERS = (
    _Trainer("verl", "verl", re.compile(r"verl\.(?:trainer\.(?:main_ppo\w*|\w*sft_trainer\w*)|experimental\.[\w.]*main\w*)")),
    _Trainer("rllm", "rllm", re.compile(r"rllm\.(?:[\w.]+\.)?(?:train|main|sft)\w*")),
    _Trainer("openrlhf", "OpenRLHF", re.compile(r"openrlhf\.cli\.train_\w+")),
    _Trainer("skyrl", "SkyRL", re.compile(r"skyrl(?:_train|\.train)\.entrypoints\.(?!.*generate)[\w.]+")),
    _Trainer("prime_rl", "prime-rl", re.compile(r"prime_rl\.(?:entrypoints\.)?(?:rl|sft|trainer|orchestrator)[\w.]*")),
    _Trainer("areal", "AReaL", re.compile(r"areal\.(?:infra\.)?launcher\.(?:local|ray|slurm)")),
    _Trainer("oat", "oat", re.compile(r"oat\.experiment\.[\w.]+")),
    _Trainer(
        "nemo_rl", "NeMo RL", files=re.compile(r"(?i)(?:.*nemo[-_]?rl\S*/|/opt/\S*/)examples/(?:\w+/)?run_\w+\.py")
    ),
    _Trainer("miles", "Miles", files=re.compile(r"(?:.*/)?miles/train(?:_\w+)?\.py")),
    _Trainer("slime", "slime", files=re.compile(r"(?:.*/)?slime/train(?:_\w+)?\.py")),
    _Trainer("open_instruct", "open-instruct", files=re.compile(r"(?:.*/)?open_instruct/(?:grpo\w*|ppo\w*)\.py")),
)  # fmt: skip
#: prime-rl's programs, which take `@ config.toml`.
_PRIME = frozenset(("rl", "sft", "trainer", "orchestrator"))
_MEGATRON = frozenset(("sft", "pt", "rlhf"))
NEEDLES = (
    b"verl.", b"rllm.", b"openrlhf.cli", b"skyrl", b"prime_rl", b"prime-rl", b"areal.", b"oat.experiment", b"nemo",
    b"NeMo", b"miles/train", b"slime/train", b"open_instruct/", b"megatron ", b" @ ",
)  # fmt: skip
#: verl's requirement, with the release that it pins.
_PIN = re.compile(r"(?m)^[^#\n]*\bverl(?:\[[\w,\s-]*\])?\s*==\s*(\d+)\.(\d+)")
_WANDB = re.compile(r"(?m)^[^#\n]*wandb")
_SILENT = frozenset(("echo", "printf", "pip", "conda", "git", "grep", "pkill", "ls", "cd"))


def plan(ctx: Context) -> None:
    """Say of each launch line where its rows can go."""
    said: set[tuple[str, str]] = set()
    for path, script in scripts(ctx, *NEEDLES):
        source = ctx.repo.source(path)
        for command in script.commands:
            started = started_trainer(command)
            if started is None:
                continue
            trainer, what = started
            if _is_here(ctx, trainer, what) or (path, trainer.name) in said:
                continue
            said.add((path, trainer.name))
            _say(ctx, path, source.line_of(command.start), trainer, what, source.text)


def started_trainer(command: Command) -> tuple[_Trainer, str] | None:
    """The trainer that a command starts and the word that says so, or None."""
    values = command.values
    if command.name in _SILENT:
        return None
    for i, value in enumerate(values):
        before = values[i - 1] if i else ""
        following = values[i + 1] if i + 1 < len(values) else ""
        if before in ("-m", "--module"):
            for trainer in _TRAINERS:
                if trainer.modules is not None and trainer.modules.fullmatch(value):
                    return trainer, value
        for trainer in _TRAINERS:
            if trainer.files is not None and trainer.files.fullmatch(value):
                return trainer, value
        if value in _PRIME and following.startswith("@"):
            return next(trainer for trainer in _TRAINERS if trainer.name == "prime_rl"), value
        if value == "megatron" and following in _MEGATRON:
            return _Trainer("ms_swift", "ms-swift"), f"megatron {following}"
    return None


def _is_here(ctx: Context, trainer: _Trainer, what: str) -> bool:
    """Whether the source that the line starts is in the repository, where its shape has looked at it."""
    if any(site.rule == trainer.name and site.outcome in ("covered", "already") for site in ctx.plan.sites):
        return True
    file = what if what.endswith(".py") else what.replace(".", "/") + ".py"
    tail = "/".join(file.rsplit("/", 2)[-2:]) if what.endswith(".py") else file
    return any(path == tail or path.endswith("/" + tail) for path in ctx.repo.files)


def _say(ctx: Context, path: str, line: int, trainer: _Trainer, what: str, text: str) -> None:
    ctx.found(trainer.name, "launched")
    why = f"{trainer.title} is installed: its rows go to a tracker layer that this repository can't edit"
    after = (
        "after training: instrument import . --run (reads wandb/), or from W&B's server: probe import wandb ENTITY/PROJECT/RUN"
        if _WANDB.search(text)
        else f"let {trainer.title} report to wandb (offline is enough), and after training: instrument import . --run"
    )
    door = trainer.name == "verl" and _verl_takes_modules(ctx)
    site = Site(
        rule=RULE.name, kind="launch", path=path, line=line, what=what, process=trainer.title,
        outcome="asked" if door else "left", strategy="register" if door else "import", why=why,
    )  # fmt: skip
    ctx.plan.sites.append(site)
    if door:
        ctx.note(
            "question", "plugin-by-hand",
            f"{what}: {why}; verl 0.6 and later imports the module that VERL_USE_EXTERNAL_MODULES names, in each process",
            path=path, line=line,
            next="`instrument module --part verl > probe_tracking.py`, in a folder of PYTHONPATH on each node (a module "
            "that is not found there ends the job), and start with VERL_USE_EXTERNAL_MODULES=probe_tracking; on a running Ray cluster "
            "add +ray_kwargs.ray_init.runtime_env.env_vars.VERL_USE_EXTERNAL_MODULES=probe_tracking and PYTHONPATH, "
            f"PROBE_TOKEN likewise. Or {after}",
        )  # fmt: skip
        return
    ctx.pass_over("register", f"{trainer.title} has no place that a launch line could name Probe in")
    ctx.pass_over("alongside", f"no file of this repository holds the training code of {trainer.title}")
    fork = "or keep its source in the repository (a clone) and run `instrument apply` there"
    ctx.note("warning", "import-after-run", f"{what}: {why}", path=path, line=line, next=f"{after}; {fork}")


def _verl_takes_modules(ctx: Context) -> bool:
    """False where the repository pins a verl before 0.6, whose `verl/__init__.py` imports no other module."""
    for path in ctx.repo.having(b"verl"):
        if path.endswith((".txt", ".toml", ".in", ".cfg", "setup.py", ".sh", "Dockerfile", ".yml", ".yaml")):
            try:
                found = _PIN.search(ctx.repo.source(path).text)
            except SourceError:
                continue
            if found and (int(found[1]), int(found[2])) < (0, 6):
                return False
    return True


RULE = Rule(name="rl_trainer", title="RL trainers started from outside", needles=NEEDLES, plan=plan, order=ORDER + 1)
