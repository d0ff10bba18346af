"""`[tool.instrument.audit]` of the target's pyproject.toml."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instrument.errors import InstrumentError
from instrument.settings import line_of, pyproject, table_of

_LISTS = ("select", "ignore", "exclude")
_KEYS = (*_LISTS, "per-file-ignores", "section")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """What the audit looks for, and where."""

    #: Codes, names or beginnings of codes to use (empty: all), and to leave out.
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    #: Globs as in .gitignore: files that are not looked at.
    exclude: tuple[str, ...] = ()
    #: Globs as in .gitignore, and the codes that are left out in those files.
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Keys or globs, and the panel section that each belongs to: {"lr": "train"}; "" for one that has none on purpose.
    section: Mapping[str, str] = field(default_factory=dict)


def load(target: Path) -> AuditSettings:
    """The settings that hold for a folder or file. Raises InstrumentError for an unknown key or a value of a wrong type."""
    found = pyproject(target)
    return parse(*found) if found else AuditSettings()


def parse(text: str, path: str) -> AuditSettings:
    """The same out of the text of a pyproject.toml."""
    table = table_of(text, path).get("audit", {})

    def wrong(key: str, message: str, hint: str = "") -> InstrumentError:
        line = line_of(text.replace("[tool.instrument.audit", "[tool.instrument"), key)
        return InstrumentError(
            f"[tool.instrument.audit] {message}", path=path, line=line, hint=hint or None, code="settings"
        )

    if not isinstance(table, dict):
        raise wrong("audit", "must be a table")
    for key, value in table.items():
        if key not in _KEYS:
            close = difflib.get_close_matches(key, _KEYS, n=1)
            hint = f"did you mean «{close[0]}»?" if close else f"known keys: {', '.join(_KEYS)}"
            raise wrong(key, f"has an unknown key «{key}»", hint)
        if key in _LISTS and not _strings(value):
            raise wrong(key, f"«{key}» must be a list of strings")
        if key == "section" and not (isinstance(value, dict) and _strings(list(value.values()))):
            raise wrong(key, "«section» must be a table of keys and sections", '"loss" = "train"')
        if key == "per-file-ignores" and not (isinstance(value, dict) and all(map(_strings, value.values()))):
            raise wrong(
                key, "«per-file-ignores» must be a table of globs and lists of codes", '"examples/**" = ["PI106"]'
            )
    ignores: dict[str, Any] = table.get("per-file-ignores", {})
    return AuditSettings(
        **{key: tuple(table.get(key, ())) for key in _LISTS},
        per_file_ignores={glob: tuple(codes) for glob, codes in ignores.items()},
        section=dict(table.get("section", {})),
    )


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
