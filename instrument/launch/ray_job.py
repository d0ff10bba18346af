"""`ray job submit` in shell scripts: its runtime environment is all that reaches the job.

On a running cluster neither the driver nor the actors see the submitter's variables (Ray 2.60): without the token in
`env_vars` a job records nothing. So it is added beside a tracker's variable, and also where there is none, if the job
runs code that this plan covers.
"""

from __future__ import annotations

import posixpath
from functools import partial
from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered, record, scripts
from instrument.launch._ray_job import entry, is_submission, module_entry, runtime_env_insertions
from instrument.launch._shell import Command, Script
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
        located = runtime_env_insertions(script.text, script, ours=partial(runs_ours, ctx, folder))
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
