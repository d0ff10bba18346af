"""`ray job submit` in shell scripts: its runtime environment is all that reaches the job.

On a running cluster neither the driver nor the actors see the submitter's variables (Ray 2.60): without the token in
`env_vars` a job records nothing. So it is added beside a tracker's variable, and also where there is none, if the job
runs code that this plan covers.
"""

from __future__ import annotations

import posixpath
from functools import partial
from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered, readable, record, scripts, settled
from instrument.launch._json import Place, package_item, read_json, still_json
from instrument.launch._names import TOKEN
from instrument.launch._ray_job import entry, is_submission, module_entry, runtime_env_files, runtime_env_insertions
from instrument.launch._shell import Command, Script
from instrument.launch._text import Located, inserted
from instrument.plan.model import Site
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context

NEEDLES = (b"runtime-env", b"ray job submit", b"runtime_env")


def plan(ctx: Context) -> None:
    """Complete the runtime environments of submitted jobs."""
    targets = covered(ctx)
    if not targets:
        return
    for path, script in scripts(ctx, *NEEDLES):
        folder = path.rpartition("/")[0]
        _sites(ctx, path, script)
        locate = partial(runtime_env_insertions, ours=partial(runs_ours, ctx, folder))
        record(ctx, RULE.name, path, settled(script, locate(script.text, script), locate))
        _files(ctx, path, script)


def _files(ctx: Context, path: str, script: Script) -> None:
    """Ask about runtime environments in files: what they hold is not expanded, so that no token can be named there."""
    folder = path.rpartition("/")[0]
    for command, name in runtime_env_files(script):
        if not runs_ours(ctx, folder, command):
            continue
        places = (posixpath.normpath(name), posixpath.normpath(posixpath.join(folder, name)))
        file = next((place for place in places if place in ctx.repo.files), None)
        if file is not None and file.endswith(".json"):
            _package(ctx, file)
        if file is not None and TOKEN.encode() in ctx.repo.read(file):
            continue
        ctx.note(
            "question",
            "token-not-forwarded",
            f"a Ray job takes its environment from {file or 'a file'}, where {TOKEN} can't be named without its value",
            path=path,
            line=ctx.repo.source(path).line_of(command.start),
            next=f"give the environment as --runtime-env-json with {TOKEN} in env_vars",
        )


def _package(ctx: Context, path: str) -> None:
    """Add the package to the `pip` of a runtime environment in a JSON file (those in YAML are `yaml_install`'s)."""
    source = readable(ctx, path)
    root = None if source is None else read_json(source.text)
    array = None if root is None else root.get("pip", "packages") or root.get("pip")
    if source is None or array is None or array.kind != "array":
        return
    located = Located()
    package_item(Place(source.text), array, located)
    if still_json(source.text, inserted(source.text, located.insertions)):
        record(ctx, RULE.name, path, located)


def runs_ours(ctx: Context, folder: str, command: Command) -> bool:
    """Whether a submitted job starts with a Python file or module of this repository."""
    file = entry(command)
    if file is not None:
        name = posixpath.normpath(file.replace("\ufffc", "").lstrip("/"))
        places = {name, posixpath.normpath(posixpath.join(folder, name))}
        return any(place in ctx.repo.files and ctx.repo.kind(place) == "own" for place in places)
    module = module_entry(command)
    if module is not None:
        name = module.replace(".", "/")
        return any(f"{base}{name}{end}" in ctx.repo.files for base in ("", "src/") for end in (".py", "/__main__.py"))
    return False


def _sites(ctx: Context, path: str, script: Script) -> None:
    source = ctx.repo.source(path)
    for command in script.commands:
        if is_submission(command):
            ctx.plan.sites.append(
                Site(
                    rule=RULE.name,
                    kind="launch",
                    path=path,
                    line=source.line_of(command.start),
                    what="ray job submit",
                    process="Ray job",
                )
            )


RULE = Rule(name="ray_job", title="Ray jobs submitted from shell scripts", needles=NEEDLES, plan=plan, order=ORDER + 10)
