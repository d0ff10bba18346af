"""The skill that comes with the tool, copied to where a coding agent looks for it, and taken away again.

What was written is remembered beside it, so that a copy that a person edited is told from one that is merely old.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from instrument import __version__
from instrument.errors import InstrumentError
from instrument.resources import folder

NAME = "instrument-code"
MANIFEST = ".probe-instrument.json"

State = Literal["absent", "current", "outdated", "edited"]


@dataclass(frozen=True, slots=True)
class Agent:
    """Where a coding agent looks for skills: below a repository, and below the home folder (both with `/`)."""

    project: str
    user: str
    #: A variable that stands for the agent's own folder, the first part of `user`.
    variable: str | None = None


#: Claude Code: its documentation, 2.1. Codex: developers.openai.com/codex/skills. The others: the table of supported
#: agents in vercel-labs/skills (007a533, 2026), by which all of them read `.agents/skills` of a repository.
AGENTS: dict[str, Agent] = {
    "claude": Agent(".claude/skills", ".claude/skills", "CLAUDE_CONFIG_DIR"),
    "codex": Agent(".agents/skills", ".agents/skills"),
    "copilot": Agent(".agents/skills", ".copilot/skills"),
    "cursor": Agent(".agents/skills", ".cursor/skills"),
    "gemini": Agent(".agents/skills", ".gemini/skills"),
    "opencode": Agent(".agents/skills", ".config/opencode/skills"),
}


@dataclass(slots=True)
class Copy:
    """The skill in one place, and how it stands there."""

    path: Path
    agents: list[str] = field(default_factory=list)
    state: State = "absent"
    #: Those of `ours` that a person edited.
    edited: list[str] = field(default_factory=list)
    #: Files there that we wrote, or that are called as ours are.
    ours: list[str] = field(default_factory=list)


def shipped() -> dict[str, bytes]:
    """The skill's files by their path below its folder. Raises FileNotFoundError for a broken installation."""
    root = folder("skills") / NAME
    files = sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files if path.name != MANIFEST}


def copies(agents: Iterable[str], *, project: Path | None, home: Path, environ: Mapping[str, str]) -> list[Copy]:
    """Where the skill goes for each of the agents, with its state there; agents that share a place share a copy.

    Below the repository of `project`, or with None below `home`. Raises InstrumentError where something else is there.
    """
    found: dict[Path, Copy] = {}
    for name in agents:
        agent = AGENTS[name]
        if project is not None:
            root = _repository(project) / agent.project
        elif agent.variable and environ.get(agent.variable):
            root = Path(environ[agent.variable], *Path(agent.user).parts[1:])
        else:
            root = home / agent.user
        copy = found.setdefault(root, Copy(root / NAME))
        copy.agents.append(name)
    for copy in found.values():
        _look(copy)
    return list(found.values())


def install(copy: Copy) -> None:
    """Write the skill there, whatever there is; files of ours that are shipped no more are removed.

    Raises InstrumentError where it can't be written.
    """
    files = shipped()
    try:
        for name, data in files.items():
            _write(copy.path / name, data)
        for name in set(copy.ours) - set(files):
            (copy.path / name).unlink(missing_ok=True)
        hashes = {name: _digest(data) for name, data in files.items()}
        manifest = {"version": __version__, "files": hashes}
        _write(copy.path / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())
    except OSError as error:
        raise InstrumentError(f"can't be written: {error.strerror}", path=str(copy.path)) from None


def uninstall(copy: Copy) -> None:
    """Remove what was installed there, and the folders that are empty then; files of a person's own stay.

    Raises InstrumentError where it can't be removed.
    """
    try:
        for name in [*copy.ours, MANIFEST]:
            (copy.path / name).unlink(missing_ok=True)
        folders = {parent for name in copy.ours for parent in (copy.path / name).parents if parent != copy.path}
        for path in sorted((p for p in folders if p.is_relative_to(copy.path)), reverse=True):
            _remove_empty(path)
        # The agent's own folders (.claude/skills) stay only if there is something else in them.
        for path in (copy.path, copy.path.parent, copy.path.parent.parent):
            if not _remove_empty(path):
                break
    except OSError as error:
        raise InstrumentError(f"can't be removed: {error.strerror}", path=str(copy.path)) from None


def _repository(path: Path) -> Path:
    """The folder that holds `.git`, at or above the path; the path itself where there is none."""
    start = path.resolve()
    return next((place for place in (start, *start.parents) if (place / ".git").exists()), start)


def _look(copy: Copy) -> None:
    if copy.path.is_symlink():
        raise InstrumentError(
            "is a symbolic link", path=str(copy.path), hint="remove it, or install where it points to"
        )
    if copy.path.exists() and not copy.path.is_dir():
        raise InstrumentError("is no folder", path=str(copy.path), hint="move it away")
    files = {name: _digest(data) for name, data in shipped().items()}
    there = {
        path.relative_to(copy.path).as_posix(): _digest(path.read_bytes())
        for path in copy.path.rglob("*")
        if path.is_file() and path.name != MANIFEST
    }
    written = _manifest(copy.path)
    copy.ours = sorted(name for name in {*written, *files} if name in there)
    # Neither what we wrote nor what we would write: a person's. Without a record, so is whatever differs at all.
    copy.edited = [name for name in copy.ours if there[name] not in (written.get(name), files.get(name))]
    if copy.edited:
        copy.state = "edited"
    elif copy.ours:
        copy.state = "current" if {name: there[name] for name in copy.ours} == files else "outdated"


def _manifest(path: Path) -> dict[str, str]:
    try:
        files = json.loads((path / MANIFEST).read_bytes())["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    if not isinstance(files, dict):
        return {}
    # Its names are used to remove files: nothing but plain paths below the folder.
    return {
        name: str(digest)
        for name, digest in files.items()
        if not os.path.isabs(name) and ".." not in name.replace("\\", "/").split("/")
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_empty(path: Path) -> bool:
    if not path.is_dir():
        return True
    if any(path.iterdir()):
        return False
    path.rmdir()
    return True
