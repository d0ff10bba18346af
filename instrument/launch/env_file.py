"""Files of variables: `docker run --env-file`, compose's `env_file`, DeepSpeed's `.deepspeed_env`.

A file that lists names alone (Docker takes their values from the caller) gains the token's name. One that holds values
is left alone: a token is never written. Beside `--env-file` the token is handed on by name (`-e PROBE_TOKEN`; a name
that is not set adds nothing: what the file says then holds).
"""

from __future__ import annotations

import posixpath
import re
from functools import partial
from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered, readable, record, scripts, settled
from instrument.launch._names import TOKEN, is_credential
from instrument.launch._pip import own_line
from instrument.launch._shell import Command, Script, Word, read_script
from instrument.launch._text import Insertion, Left, Located, line_around, newline_at
from instrument.launch._yaml import documents, walk
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from instrument.plan.context import Context

NEEDLES = (b"env-file", b"env_file", b"deepspeed")
_CONTAINERS = frozenset(("docker", "podman", "nerdctl", "nvidia-docker"))
_LINE = re.compile(r"(?m)^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*(=?)")


def plan(ctx: Context) -> None:
    """Name the token in lists of names, and beside files of values."""
    if not covered(ctx):
        return
    for path, script in scripts(ctx, b"env-file"):
        located = partial(beside_file, needs=partial(_needs, ctx, path.rpartition("/")[0]))
        record(ctx, RULE.name, path, settled(script, located(script.text, script), located))
    for path in ctx.repo.having(b"env_file", suffixes=(".yaml", ".yml")):
        _compose(ctx, path)
    _deepspeed(ctx)


# -- docker run --env-file


def beside_file(text: str, script: Script | None = None, *, needs: Callable[[str, Command], bool]) -> Located:
    """`-e PROBE_TOKEN` after `--env-file F`, where the file needs it and no variable of a tracker is handed on."""
    located = Located()
    script = script or read_script(text)
    for command in script.commands:
        word, name = _file(command)
        if word is None or not needs(name, command):
            continue
        if TOKEN in text[command.start : command.end]:
            located.present = True
        elif command.doubtful:
            located.left.append(_left(word.start, name))
        else:
            lead = own_line(text, word, [w for w in command.words if w is not word])
            what = f"hands {TOKEN} on by name, beside the variables of {name}"
            located.insertions.append(Insertion(word.end, f"{lead}-e {TOKEN}", what))
    return located


def _file(command: Command) -> tuple[Word | None, str]:
    """The last word of the `--env-file` option of a container's start, and the file."""
    values = command.values
    if not any(value.rsplit("/", 1)[-1] in _CONTAINERS for value in values[:4]) or "compose" in values[:3]:
        return None, ""
    for i, word in enumerate(command.words):
        if word.value == "--env-file" and i + 1 < len(values):
            return command.words[i + 1], values[i + 1]
        if word.value.startswith("--env-file="):
            return word, word.value.partition("=")[2]
    return None, ""


def _needs(ctx: Context, folder: str, name: str, command: Command) -> bool:
    """Whether a file carries a tracker's credential, or may: one that is not here, for a container with our code."""
    if any(is_credential(value.split("=")[0]) for value in command.values):
        return False  # the token stands beside that one
    path = _path(ctx, folder, name)
    if path is None:
        return any(_ours(ctx, folder, value) for value in command.values)
    variables = _variables(ctx, path)
    return TOKEN not in variables and any(map(is_credential, variables))


def _ours(ctx: Context, folder: str, value: str) -> bool:
    name = posixpath.normpath(value.lstrip("/"))
    return value.endswith(".py") and any(
        place in ctx.repo.files for place in (name, posixpath.normpath(posixpath.join(folder, name)))
    )


def _path(ctx: Context, folder: str, name: str) -> str | None:
    places = (posixpath.normpath(posixpath.join(folder, name)), posixpath.normpath(name))
    return next((place for place in places if place in ctx.repo.files), None)


def _variables(ctx: Context, path: str) -> set[str]:
    return {match[1] for match in _LINE.finditer(ctx.repo.read(path).decode("utf-8", "replace"))}


def _left(offset: int, name: str) -> Left:
    return Left(
        offset,
        "token-not-forwarded",
        f"{name} hands a tracker's variables on and {TOKEN} is not among them",
        f"name {TOKEN} there, or set it in that file where it is kept; never commit its value",
    )


# -- compose, DeepSpeed


def _compose(ctx: Context, path: str) -> None:
    """`env_file:` of a service: a list of names gains one, for a file of values a person is asked."""
    source = readable(ctx, path)
    if source is None or TOKEN in source.text:
        return
    located = Located()
    for root in documents(source.text):
        for keys, node in walk(root):
            if "env_file" in keys and node.kind == "scalar" and keys[-1] in ("env_file", "path"):
                file = _path(ctx, path.rpartition("/")[0], node.value)
                if file is None or TOKEN in _variables(ctx, file) or not any(map(is_credential, _variables(ctx, file))):
                    continue
                if not _add_name(ctx, file):
                    located.left.append(_left(node.start, node.value))
    record(ctx, RULE.name, path, located)


def _add_name(ctx: Context, path: str) -> bool:
    """Add the token's name to a file that lists names alone."""
    source = readable(ctx, path)
    if source is None:
        return False
    text = source.text
    anchor = next((m for m in _LINE.finditer(text) if is_credential(m[1]) and not m[2]), None)
    if anchor is None:
        return False
    _, end = line_around(text, anchor.start())
    what = f"names {TOKEN}, as {anchor[1]} is"
    if not any(edit.path == path for edit in ctx.plan.edits):
        record(ctx, RULE.name, path, Located([Insertion(end, newline_at(text, anchor.start()) + TOKEN, what)]))
    return True


def _deepspeed(ctx: Context) -> None:
    """`.deepspeed_env`, from which the deepspeed launcher fills the environment of other nodes (0.14 to 0.18)."""
    for path in (p for p in ctx.repo.files if p.rpartition("/")[2] == ".deepspeed_env"):
        variables = _variables(ctx, path)
        if TOKEN not in variables and any(map(is_credential, variables)):
            record(ctx, RULE.name, path, Located(left=[_left(0, ".deepspeed_env")]))
    for path, script in scripts(ctx, b"deepspeed_env"):
        written = [m for m in re.finditer(r"\b([A-Z_]+)=", script.text) if is_credential(m[1])]
        if written and TOKEN not in script.text:
            record(ctx, RULE.name, path, Located(left=[_left(written[0].start(), ".deepspeed_env")]))


RULE = Rule(name="env_file", title="Files of variables", needles=NEEDLES, plan=plan, order=ORDER + 10)
