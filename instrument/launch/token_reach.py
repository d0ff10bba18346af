"""The last word on the token: processes that record and are started where nothing of this environment is.

A container, a pod, a SkyPilot task, a Slurm job that exports nothing, `env -i`, `sudo`. Where neither a rule nor the
repository names the token for them, and no question was asked yet, one is asked here. The process map says what runs
in them.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from instrument.launch._cleared import clears
from instrument.launch._common import ORDER, covered, is_ci, scripts
from instrument.launch._names import TOKEN, is_credential
from instrument.launch._shell import Command, Script
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context

NEEDLES = (
    b"docker", b"podman", b"apptainer", b"singularity", b"services:", b"apiVersion:", b"run:", b"--export", b"env -",
    b"sudo ", b"deepspeed", b"secrets.",
)  # fmt: skip
_WHERE = {"container": "a container", "kubernetes": "a pod", "sky": "a SkyPilot task"}
_NOTHING = re.compile(r"--export[= ](?:NONE|NIL)\b", re.IGNORECASE)
_DIRECTIVE = re.compile(r"(?m)^#SBATCH\s+--export[= ]([^\s#]+)")


def plan(ctx: Context) -> None:
    """Ask about each, once a file."""
    targets = covered(ctx)
    if not targets:
        return
    for process in ctx.plan.processes.processes.values():
        where = _WHERE.get(process.kind)
        if where is None or not _records(ctx, process.id):
            continue
        for start in process.starts:
            base = posixpath.basename(start.path)
            if "ockerfile" not in base and "ontainerfile" not in base:  # whoever runs the image hands it over
                if not _handled(ctx, start.path):
                    _ask(ctx, start.path, start.line, f"what records runs in {where}")
    for path, script in scripts(ctx, b"--export", b"env -", b"sudo ", b"deepspeed"):
        _script(ctx, path, script)
    for path in ctx.repo.having(b"secrets."):
        if is_ci(path):
            _workflow(ctx, path, targets)


def _records(ctx: Context, top: str) -> bool:
    """Whether something that is covered runs in a process, or below it."""
    processes = ctx.plan.processes.processes
    below, todo = {top}, [top]
    while todo:
        here = todo.pop()
        found = [process.id for process in processes.values() if here in process.parents and process.id not in below]
        below.update(found)
        todo += found
    return any(emitter.coverage == "covered" for id in below for emitter in processes[id].emitters)


def _script(ctx: Context, path: str, script: Script) -> None:
    source = ctx.repo.source(path)
    folder = path.rpartition("/")[0]
    ours = [command for command in script.commands if any(_ours(ctx, folder, value) for value in command.values)]
    for match in _DIRECTIVE.finditer(script.text) if ours and not _handled(ctx, path) else ():
        names = [part.split("=")[0] for part in match[1].split(",")]
        if "ALL" not in names and "$" not in match[1]:
            _ask(
                ctx, path, source.line_of(match.start()), "what records runs in a Slurm job that gets none of the rest"
            )
    for command in ours:
        text = script.text[command.start : command.end]
        inside = (edit for edit in ctx.plan.edits if edit.path == path and command.start <= edit.start <= command.end)
        if TOKEN in text or any(TOKEN in edit.text for edit in inside):
            continue
        if _NOTHING.search(text):
            _ask(ctx, path, source.line_of(command.start), "what records runs in a Slurm job that gets nothing")
        elif command.name == "deepspeed" and any(re.match(r"--hostfile|-H\Z", value) for value in command.values):
            if b"deepspeed_env" not in ctx.repo.read(path) and ".deepspeed_env" not in ctx.repo.files:
                what = (
                    "what records may run on another node, which gets .deepspeed_env and NCCL's and Python's variables"
                )
                _ask(ctx, path, source.line_of(command.start), what)
        elif _cleared(command):
            _ask(ctx, path, source.line_of(command.start), "what records is started with an environment of its own")


def _workflow(ctx: Context, path: str, targets: frozenset[str]) -> None:
    """A workflow that runs what is covered with a tracker's secret: its secrets are its owner's to hand out."""
    text = ctx.repo.read(path).decode("utf-8", "replace")
    names = {posixpath.basename(target) for target in targets}
    runs = any(word[0] in names for word in re.finditer(r"[\w-]+\.py\b", text))
    named = next((m for m in re.finditer(r"(?m)^\s*([A-Z_]+):", text) if is_credential(m[1])), None)
    if runs and named is not None and TOKEN not in text:
        ctx.note(
            "question",
            "token-not-given",
            f"a workflow runs what records, with {named[1]} and without {TOKEN}; workflows are not changed",
            path=path,
            line=text.count("\n", 0, named.start(1)) + 1,
            next=f"add {TOKEN}: ${{{{ secrets.{TOKEN} }}}} beside it",
        )


def _cleared(command: Command) -> bool:
    return bool(command.values) and command.name in ("env", "sudo") and clears(command)


def _ours(ctx: Context, folder: str, value: str) -> bool:
    """Whether a word names a Python file of this repository, or a job script that is in it."""
    if not value.endswith((".py", ".sh", ".sbatch", ".slurm")):
        return False
    name = posixpath.normpath(value.lstrip("/"))
    places = {name, posixpath.normpath(posixpath.join(folder, name))}
    return any(place in ctx.repo.files and ctx.repo.kind(place) == "own" for place in places)


def _handled(ctx: Context, path: str) -> bool:
    """Whether the token is named in a file, by now or by this plan, or a person is asked about it."""
    if TOKEN.encode() in ctx.repo.read(path) or any(e.path == path and TOKEN in e.text for e in ctx.plan.edits):
        return True
    return any(note.path == path and note.code in ("token-not-forwarded", "token-not-given") for note in ctx.plan.notes)


def _ask(ctx: Context, path: str, line: int, what: str) -> None:
    if ctx.repo.kind(path) != "own" or any(note.path == path and note.line == line for note in ctx.plan.notes):
        return
    ctx.note("question", "token-not-given", f"{what}, and nothing hands {TOKEN} to it", path=path, line=line)


RULE = Rule(name="token_reach", title="Does the token arrive", needles=NEEDLES, plan=plan, order=ORDER + 650)
