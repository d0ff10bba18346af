"""The oldest Python that a file must run on, as far as its repository declares one."""

from __future__ import annotations

import configparser
import re
from typing import Any

from instrument.errors import SourceError
from instrument.repo.scan import Repository

#: Where nothing is declared; trainers that old Pythons can't run are left out by what proof 1 asks of the original.
UNDECLARED = (3, 8)
#: `ast.parse` tells nothing of older ones.
OLDEST = 7
_NEWEST = 30


def minimum_python(repo: Repository, path: str) -> tuple[int, int]:
    """(3, minor) from the nearest pyproject.toml, setup.cfg or setup.py at or above a file; UNDECLARED if none says."""
    folders = path.split("/")[:-1]
    for depth in range(len(folders), -1, -1):
        prefix = "".join(f"{folder}/" for folder in folders[:depth])
        for name, read in (("pyproject.toml", _pyproject), ("setup.cfg", _setup_cfg), ("setup.py", _setup_py)):
            if repo.exists(prefix + name):
                try:
                    specifier = read(repo.read(prefix + name).decode("utf-8", "replace"))
                except SourceError:
                    continue
                minimum = _minimum(specifier) if specifier else None
                if minimum is not None:
                    return minimum
    return UNDECLARED


def _pyproject(text: str) -> str | None:
    if "python" not in text:
        return None
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document: Any = tomlkit.parse(text).unwrap()
    except (TOMLKitError, ValueError):
        return None
    for keys in (("project", "requires-python"), ("tool", "poetry", "dependencies", "python")):
        value = document
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str):
            return value
    return None


def _setup_cfg(text: str) -> str | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    return parser.get("options", "python_requires", fallback=None)


def _setup_py(text: str) -> str | None:
    found = re.search(r"""python_requires\s*=\s*["']([^"']+)["']""", text)
    return found[1] if found else None


def _minimum(specifier: str) -> tuple[int, int] | None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    # Poetry's own: ^3.9 and ~3.9 say from 3.9 on; "||" joins alternatives, of which the first is the lowest.
    plain = re.sub(r"(^|,)\s*(?:\^|~(?!=))\s*", r"\1>=", specifier.split("|")[0].strip())
    try:
        allowed = SpecifierSet(plain)
    except InvalidSpecifier:
        return None
    minors = (m for m in range(_NEWEST) if allowed.contains(f"3.{m}") or allowed.contains(f"3.{m}.99"))
    minor = next(minors, None)
    return None if minor is None else (3, max(minor, OLDEST))
