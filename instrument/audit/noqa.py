"""`# noqa` comments: bare, or with codes (`# noqa: PI105, E501`); `# instrument: noqa` for a whole file."""

from __future__ import annotations

import re

#: As flake8 and ruff read it.
_NOQA = re.compile(r"#\s*noqa(?P<codes>:\s?(?P<list>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)
_FILE = re.compile(r"^\s*#\s*instrument:\s*noqa(?::\s?(?P<list>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?\s*$", re.I | re.M)
_CODE = re.compile(r"[A-Z]+[0-9]+", re.IGNORECASE)


def silenced(text: str, lines: range, code: str) -> bool:
    """Whether a comment of a file's text says that a finding of this code on one of these lines (from 1) is meant so."""
    if "noqa" not in text.lower():
        return False
    if any(_names(found["list"], code) for found in _FILE.finditer(text)):
        return True
    rows = text.splitlines()
    return any(
        _names(found["list"], code)
        for number in lines
        if 0 < number <= len(rows)
        for found in _NOQA.finditer(rows[number - 1])
    )


def _names(codes: str | None, code: str) -> bool:
    return codes is None or code.upper() in {each.upper() for each in _CODE.findall(codes)}
