"""`manifest.toml`: which sources, where each comes from, what is expected of it."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instrument.errors import InstrumentError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomlkit as tomllib

HERE = Path(__file__).resolve().parent
MANIFEST = HERE / "manifest.toml"

_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Trial:
    """How a source is run for real: a script of ours that trains something tiny with it."""

    #: Relative to this repository; it is put into the source's folder before `apply`.
    script: str
    #: A folder of the source that Python must look in ("src").
    path: str = "."
    needs: tuple[str, ...] = ()
    #: What was seen when it was run.
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """One repository at one version."""

    name: str
    #: "package==version" with the file's name and hash, or "owner/name" with a commit.
    pypi: str = ""
    file: str = ""
    sha256: str = ""
    git: str = ""
    commit: str = ""
    licence: str = ""
    #: The kind of trainer, and the form or version of it.
    shape: str = ""
    form: str = ""
    strategy: str = ""
    processes: str = ""
    why: str = ""
    #: Emitters that nothing records, by "path:line", each with its class and reason; judged by a person.
    judged: dict[str, str] = field(default_factory=dict)
    run: Trial | None = None


def read(path: Path = MANIFEST) -> list[Source]:
    """All sources in order. Raises InstrumentError with the source's name for what is missing or malformed."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InstrumentError(f"can't be read: {error}", path=str(path)) from None
    sources = [_source(entry, path) for entry in data.get("source", [])]
    names = [source.name for source in sources]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InstrumentError(f"two sources are called {', '.join(sorted(twice))}", path=str(path))
    return sources


def _source(entry: dict[str, Any], path: Path) -> Source:
    given = dict(entry)
    name = str(given.get("name", ""))

    def wrong(what: str) -> InstrumentError:
        return InstrumentError(f"source «{name}»: {what}", path=str(path))

    if not _NAME.fullmatch(name):
        raise wrong("the name is missing, or has other than small letters, digits, dots and dashes")
    trial = given.pop("run", None)
    unknown = sorted(set(given) - set(Source.__dataclass_fields__))
    if unknown:
        raise wrong(f"unknown: {', '.join(unknown)}")
    source = Source(**given, run=Trial(**{**trial, "needs": tuple(trial.get("needs", ()))}) if trial else None)
    if bool(source.pypi) == bool(source.git):
        raise wrong("comes from either pypi or git")
    if source.pypi and ("==" not in source.pypi or not source.file or not _SHA256.fullmatch(source.sha256)):
        raise wrong("pypi needs package==version, the file's name and its sha256")
    if source.git and (source.git.count("/") != 1 or not _COMMIT.fullmatch(source.commit)):
        raise wrong("git needs owner/name and a whole commit")
    missing = [key for key in ("licence", "shape", "strategy", "processes", "why") if not getattr(source, key)]
    if missing:
        raise wrong(f"missing: {', '.join(missing)}")
    return source
