"""`[tool.instrument]` of the target's pyproject.toml: what a repository says once, so that nobody has to type it."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from instrument.errors import InstrumentError
from instrument.plan.edits import Strategy

_SAMPLES = "sample-metrics"
_CHOICES = {"strategy": get_args(Strategy)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The keys of `[tool.instrument]`, each with its meaning. A value given on the command line goes before."""

    #: Probe's own project, experiment, question and run name. Passed to `probe.init` only when given.
    project: str | None = None
    experiment: str | None = None
    question: str | None = None
    name: str | None = None
    #: Only this strategy.
    strategy: str | None = None
    #: Globs, as in .gitignore: which files may be edited, and which of those not.
    only: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    #: Rules (file names below shapes/, trackers/, launch/) to use, and to leave out.
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    #: NAME=DOTTED.PATH of a sample's own measurements: the table [tool.instrument.sample-metrics]. None where the
    #: table is missing; an empty one asks for samples with what Miles itself knows of them.
    sample_metrics: tuple[str, ...] | None = None

    @property
    def globs(self) -> tuple[str, ...]:
        """`only` and `exclude` as one list of .gitignore patterns, as Repository takes it; empty means all files."""
        if not self.exclude:
            return self.only
        return (*(self.only or ("*",)), *("!" + glob for glob in self.exclude))


def load(target: Path) -> Settings:
    """The settings that hold for a folder or file: of the nearest pyproject.toml at or above it, up to the git root.

    Raises InstrumentError, with file and line, for TOML that does not parse, an unknown key or a value of a wrong type.
    """
    found = pyproject(target)
    return parse(*found) if found else Settings()


def pyproject(target: Path) -> tuple[str, str] | None:
    """The text and path of the nearest pyproject.toml, where it names this tool. Raises InstrumentError if unreadable."""
    start = target.resolve()
    for folder in [start, *start.parents] if start.is_dir() else start.parents:
        file = folder / "pyproject.toml"
        if file.is_file():
            try:
                text = file.read_text("utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                raise InstrumentError(f"can't be read: {error}", path=str(file), code="settings") from None
            return (text, str(file)) if "instrument" in text else None
        if (folder / ".git").exists():
            break
    return None


def parse(text: str, path: str) -> Settings:
    """Settings out of the text of a pyproject.toml. Raises as `load` does."""
    table = table_of(text, path)
    table.pop("audit", None)  # read by `audit/settings.py`, when it is asked for
    own = {"sample_metrics"}
    known = {field.name for field in fields(Settings)} - own | {_SAMPLES}
    samples = _samples(table.pop(_SAMPLES), path, line_of(text, _SAMPLES)) if _SAMPLES in table else None
    for key, value in table.items():
        line = line_of(text, key)
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean «{close[0]}»?" if close else f"known keys: {', '.join(sorted(known))}"
            raise InstrumentError(
                f"[tool.instrument] has an unknown key «{key}»", path=path, line=line, hint=hint, code="settings"
            )
        _check(key, value, path, line)
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Settings(**values, sample_metrics=samples)


def table_of(text: str, path: str) -> dict[str, Any]:
    """The table [tool.instrument], empty where there is none. Raises as `load` does."""
    import tomlkit  # only where there is something to parse
    from tomlkit.exceptions import ParseError, TOMLKitError

    try:
        document = tomlkit.parse(text).unwrap()
    except ParseError as error:
        raise InstrumentError(f"is not valid TOML: {error}", path=path, line=error.line, code="settings") from None
    except TOMLKitError as error:
        raise InstrumentError(f"is not valid TOML: {error}", path=path, code="settings") from None
    tool = document.get("tool")
    table = tool.get("instrument", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise InstrumentError(
            "[tool.instrument] must be a table", path=path, line=line_of(text, "instrument"), code="settings"
        )
    return table


def _samples(value: Any, path: str, line: int | None) -> tuple[str, ...]:
    """The table of a sample's measurements as NAME=PATH."""
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise InstrumentError(
            f"[tool.instrument] «{_SAMPLES}» must be a table of names and dotted paths", path=path, line=line,
            hint='"agent/turns" = "metadata.turns"', code="settings",
        )  # fmt: skip
    return tuple(f"{name}={dotted}" for name, dotted in value.items())


def _check(key: str, value: Any, path: str, line: int | None) -> None:
    listed = get_type_hints(Settings)[key] == tuple[str, ...]
    if listed and not (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        raise InstrumentError(
            f"[tool.instrument] «{key}» must be a list of strings", path=path, line=line, code="settings"
        )
    if not listed and not isinstance(value, str):
        raise InstrumentError(f"[tool.instrument] «{key}» must be a string", path=path, line=line, code="settings")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise InstrumentError(
            f"[tool.instrument] «{key}» must be one of {', '.join(_CHOICES[key])}, not «{value}»",
            path=path,
            line=line,
            code="settings",
        )


def line_of(text: str, key: str) -> int | None:
    """The line (from 1) of a key below the [tool.instrument] header, for a message; None where it is written oddly."""
    inside = False
    pattern = re.compile(rf"""\s*(?:tool\s*\.\s*)?(?:instrument\s*\.\s*)?["']?{re.escape(key)}["']?\s*[=.\]]""")
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(rf"\s*\[\s*tool\s*\.\s*instrument\s*\.\s*{re.escape(key)}\s*\]", line):
            return number
        if line.lstrip().startswith("["):
            inside = bool(re.match(r"\s*\[\s*tool\s*(\.\s*instrument\s*)?\]", line))
        elif inside and pattern.match(line):
            return number
    return None
