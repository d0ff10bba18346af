"""`ray job submit` in shell scripts: its runtime environment is all that reaches the job.

On a running cluster neither the driver nor the actors see the submitter's variables (Ray 2.60): without the token in
`env_vars` a job records nothing. So it is added beside a tracker's variable, and also where there is none, if the job
runs code that this plan covers.
"""

from __future__ import annotations

import posixpath
import re
from functools import partial
from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered, readable, record, scripts, settled
from instrument.launch._json import Place, add_pair, package_item, read_json, still_json
from instrument.launch._make import is_makefile, recipes
from instrument.launch._names import TOKEN, best_variable
from instrument.launch._ray_job import entry, is_submission, module_entry, runtime_env_files, runtime_env_insertions
from instrument.launch._shell import Command, Script
from instrument.launch._text import Insertion, Located, inserted, stable
from instrument.launch._yaml_env import env_insertions
from instrument.plan.model import Site
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from instrument.plan.context import Context

NEEDLES = (b"runtime-env", b"ray job submit", b"runtime_env")


def plan(ctx: Context) -> None:
    """Complete the runtime environments of submitted jobs."""
    targets = covered(ctx)
    if not targets:
        return
    named = _named_by_a_driver(ctx)
    for path in ctx.repo.having(b"ray job submit"):
        source = readable(ctx, path) if is_makefile(path) else None
        if source is not None:
            ours = (lambda command: False) if named else partial(runs_ours, ctx, path.rpartition("/")[0])
            in_recipes = partial(_in_recipes, ours=ours)
            record(ctx, RULE.name, path, stable(source.text, in_recipes(source.text), in_recipes))
    for path, script in scripts(ctx, *NEEDLES):
        folder = path.rpartition("/")[0]
        _sites(ctx, path, script)
        ours = partial(runs_ours, ctx, folder)
        locate = partial(runtime_env_insertions, ours=(lambda command: False) if named else ours)
        record(ctx, RULE.name, path, settled(script, locate(script.text, script), locate))
        _files(ctx, path, script)


def _in_recipes(text: str, *, ours: Callable[[Command], bool]) -> Located:
    """In the recipes of a Makefile, where a dollar for the shell is written twice."""
    located = runtime_env_insertions(recipes(text), ours=ours)
    located.insertions = [item._replace(text=item.text.replace("$", "$$")) for item in located.insertions]
    return located


def _named_by_a_driver(ctx: Context) -> bool:
    """Whether a `ray.init` of this repository names the token: a variable in both ends the job before it begins."""
    return any(
        TOKEN.encode() in data and b"env_vars" in data
        for path in ctx.repo.having(b"ray.init")
        if path.endswith(".py") and b"ray.init" in (data := ctx.repo.read(path)) and b"submit_job" not in data
    )


def _files(ctx: Context, path: str, script: Script) -> None:
    """Ask about runtime environments in files: what they hold is not expanded, so that no token can be named there."""
    folder = path.rpartition("/")[0]
    for command, name in runtime_env_files(script):
        if not runs_ours(ctx, folder, command):
            continue
        places = (posixpath.normpath(name), posixpath.normpath(posixpath.join(folder, name)))
        file = next((place for place in places if place in ctx.repo.files), None)
        if file is not None and file.endswith(".json"):
            _json_file(ctx, file)
        if file is not None and TOKEN.encode() in ctx.repo.read(file):
            continue
        if file is not None and _named(ctx, file):
            ctx.note(
                "info",
                "give-the-token",
                f"Ray looks {TOKEN} up in the environment of the machines where the job runs",
                path=file,
            )
            continue
        ctx.note(
            "question",
            "token-not-forwarded",
            f"a Ray job takes its environment from {file or 'a file'}, where {TOKEN} can't be named without its value",
            path=path,
            line=ctx.repo.source(path).line_of(command.start),
            next=f"give the environment as --runtime-env-json with {TOKEN} in env_vars",
        )


def _named(ctx: Context, path: str) -> bool:
    """Whether the token is named in a file, as the tracker's credential is (in YAML by the rule for such files)."""
    if any(edit.path == path and TOKEN in edit.text for edit in ctx.plan.edits):
        return True
    source = readable(ctx, path) if path.endswith((".yaml", ".yml")) else None
    return source is not None and bool(env_insertions(path, source.text, lambda found: True).insertions)


def _json_file(ctx: Context, path: str) -> None:
    """Complete a runtime environment in a JSON file: the package in its `pip`, the token where Ray looks it up.

    (Those in YAML are the rules' `yaml_install` and `yaml_env`.)
    """
    source = readable(ctx, path)
    root = None if source is None else read_json(source.text)
    if source is None or root is None:
        return
    located = Located()
    array = root.get("pip", "packages") or root.get("pip")
    if array is not None and array.kind == "array":
        package_item(Place(source.text), array, located)
    variables = root.get("env_vars")
    keys = [] if variables is None else [key for key, _, _ in variables.pairs]
    index = best_variable(keys)
    if variables is not None and index is not None and TOKEN not in keys:
        # Ray expands this where the processes start, to nothing where it is not set (2.60, update_envs).
        if re.fullmatch(r"\$\{\w+\}", variables.pairs[index][2].text):
            made = add_pair(Place(source.text), variables, index, TOKEN, f'"${{{TOKEN}}}"')
            if made is not None:
                located.insertions.append(Insertion(made[0], made[1], f"hands {TOKEN} on by name, as {keys[index]} is"))
    if still_json(source.text, inserted(source.text, located.insertions)):
        record(ctx, RULE.name, path, located)


def runs_ours(ctx: Context, folder: str, command: Command) -> bool:
    """Whether a submitted job starts with a Python file or module of this repository."""
    file = entry(command)
    if file is not None:
        name = posixpath.normpath(file.replace("\ufffc", "").lstrip("/"))
        places = {name, posixpath.normpath(posixpath.join(folder, name))}
        return any(place in ctx.repo.files and ctx.repo.kind(place) == "own" for place in places)
    values = command.values[command.values.index("--") + 1 :] if "--" in command.values else ()
    for script in (value for value in values if value.endswith(".sh")):
        for place in (posixpath.normpath(script), posixpath.normpath(posixpath.join(folder, script))):
            if place in ctx.repo.files and ctx.repo.kind(place) == "own":
                return re.search(rb"\bpython|\btorchrun\b", ctx.repo.read(place)) is not None
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
