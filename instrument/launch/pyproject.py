"""pyproject.toml in its dialects: PEP 621, PEP 735 groups, Poetry, PDM, Hatch, uv and Pixi tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._names import PACKAGE, bounded, distribution, minimum, older_python
from instrument.launch._text import Insertion, Left, Located, inserted, line_around, newline_at
from instrument.launch._toml import Entry, array_item, data, entries, grown
from instrument.repo.source import Source

#: Arrays of requirement strings, as patterns over the dotted path.
_ARRAYS = re.compile(
    r"project\.dependencies|project\.optional-dependencies\.[^.]+|dependency-groups\.[^.]+"
    r"|tool\.(?:uv|pdm|rye)\.dev-dependencies(?:\.[^.]+)?"
    r"|(?:tool\.hatch\.)?envs\.[^.]+\.(?:extra-)?dependencies"
    r"|dependencies"
)
#: Tables of `name = version`.
_TABLES = re.compile(
    r"tool\.poetry\.(?:dev-)?dependencies|tool\.poetry\.group\.[^.]+\.dependencies"
    r"|(?:tool\.pixi\.)?(?:feature\.[^.]+\.)?pypi-dependencies|(?:dev-)?packages"
)

_PYTHONS = (("project", "requires-python"), ("tool", "poetry", "dependencies", "python"))


def _matches(path: str) -> bool:
    return path.rsplit("/", 1)[-1] in ("pyproject.toml", "hatch.toml")


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in a pyproject.toml."""
    return toml_insertions(source.text, names)


def toml_insertions(text: str, names: Sequence[str], prefix: str = "") -> Located:
    """Beside the first of `names` in every array or table that lists it. `prefix` is for script headers."""
    found = list(entries(text))
    python = next((e.value.text for e in found if e.path in _PYTHONS), None)
    listed = _listed(found)
    name = next((name for name in names if any(name in row for row in listed)), None)
    if name is None:
        return _other_forms(text, names)
    if any(PACKAGE in row for row in listed):
        return Located(present=True)
    located = Located()
    for row in listed:
        if name not in row:
            continue
        entry, index = row[name]
        if entry.value.kind == "array":
            item = bounded(entry.value.items[index].text, python=python)
            offset, added = array_item(text, entry.value, index, item, prefix)
        else:
            made = _table_line(text, entry, python)
            if made is None:
                located.left.append(_by_hand(entry.start, name))
                continue
            offset, added = made
        located.insertions.append(Insertion(offset, added, f"declares {PACKAGE} beside {name}"))
    if located.insertions and not _proved(text, located.insertions):
        at = located.insertions[0].offset
        return Located(left=[_by_hand(at, name)])
    return located


def _other_forms(text: str, names: Sequence[str]) -> Located:
    """Dependencies that are declared where no line is: in an inline table, or as packages of conda (Pixi)."""
    document = data(text) if any(name in text for name in names) else None
    project = (document or {}).get("project")
    if isinstance(project, dict):
        rows = [project.get("dependencies"), *_values(project.get("optional-dependencies"))]
        listed = {distribution(item) for row in rows if isinstance(row, list) for item in row if isinstance(item, str)}
        name = next((name for name in names if name in listed), None)
        if name is not None:
            return Located(present=True) if PACKAGE in listed else Located(left=[_by_hand(text.find(name), name)])
    return Located()


def _values(table: object) -> list[object]:
    return list(table.values()) if isinstance(table, dict) else []


def _listed(found: list[Entry]) -> list[dict[str, tuple[Entry, int]]]:
    """One mapping a list of dependencies: distribution to the entry it stands in and its place in it."""
    rows: list[dict[str, tuple[Entry, int]]] = []
    tables: dict[tuple[str, ...], dict[str, tuple[Entry, int]]] = {}
    for entry in found:
        path = ".".join(entry.path)
        if entry.value.kind == "array" and _ARRAYS.fullmatch(path):
            row: dict[str, tuple[Entry, int]] = {}
            for index, item in enumerate(entry.value.items):
                name = distribution(item.text) if item.kind == "string" else None
                if name:
                    row.setdefault(name, (entry, index))
            rows.append(row)
        elif len(entry.path) > 1 and _TABLES.fullmatch(".".join(entry.path[:-1])):
            name = distribution(entry.path[-1])
            if name:
                tables.setdefault(entry.path[:-1], {}).setdefault(name, (entry, 0))
    return [row for row in [*rows, *tables.values()] if row]


def _table_line(text: str, entry: Entry, python: str | None) -> tuple[int, str] | None:
    """A line `probe-research = ">=..."` after a table's entry; None where that is optional or shares its line."""
    start, end = line_around(text, entry.start)
    if any(inner.path == ("optional",) for inner in entry.value.entries):
        return None
    if text[start : entry.start].strip() or text[entry.value.end : end].split("#")[0].strip():
        return None
    if not start <= entry.value.end <= end:
        return None
    equals = re.match(r"[^=]*?([ \t]*=[ \t]*)", text[entry.start : end])
    assign = equals[1] if equals else " = "
    quote = "'" if text[entry.value.start] == "'" else '"'
    indent = text[start : entry.start]
    value = f"{quote}>={minimum()}{quote}"
    if python is not None and older_python(python):
        # Poetry refuses to lock a project that admits a Python which a dependency does not.
        value = f"{{version = {value}, python = {quote}>=3.10{quote}}}"
    return end, f"{newline_at(text, start)}{indent}{PACKAGE}{assign}{value}"


def _by_hand(offset: int, name: str) -> Left:
    return Left(
        offset,
        "dependency-by-hand",
        f"{name} is declared here in a form that is not changed by a tool",
        f"add {PACKAGE}>={minimum()} beside it",
    )


def _proved(text: str, insertions: list[Insertion]) -> bool:
    before, after = data(text), data(inserted(text, insertions))
    return before is not None and after is not None and before != after and grown(before, after, PACKAGE)


_LOCKS = (
    ("uv.lock", "uv lock"),
    ("poetry.lock", "poetry lock"),
    ("pdm.lock", "pdm lock"),
    ("pixi.lock", "pixi lock"),
    ("requirements.lock", "rye lock"),
)
KIND = DependencyKind("pyproject", _matches, locate, locks=_LOCKS, needles=(b"dependencies",))
RULE = dependency_rule(KIND, "pyproject.toml")
