"""pixi.toml: a line beside the tracker's among the packages from PyPI; conda's channels do not have the SDK."""

from __future__ import annotations

import re
from collections.abc import Sequence

from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._names import PACKAGE, distribution, minimum
from instrument.launch._text import Insertion, Left, Located, line_around, newline_at
from instrument.launch._toml import data, entries, grown
from instrument.launch.pyproject import toml_insertions
from instrument.repo.source import Source

_CONDA = re.compile(r"(?:feature\.[^.]+\.)?dependencies")


def _matches(path: str) -> bool:
    return path.rsplit("/", 1)[-1] == "pixi.toml"


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in a pixi.toml: beside the tracker from PyPI, or in that table where conda has it."""
    text = source.text
    located = toml_insertions(text, names)
    if located.anything:
        return located
    found = list(entries(text))
    conda = {distribution(entry.path[-1]) for entry in found if _CONDA.fullmatch(".".join(entry.path[:-1]))}
    name = next((name for name in names if name in conda), None)
    if name is None:
        return Located()
    pypi = [entry for entry in found if entry.path[:-1] == ("pypi-dependencies",)]
    if any(distribution(entry.path[-1]) == PACKAGE for entry in pypi):
        return Located(present=True)
    line = f'{PACKAGE} = ">={minimum()}"'
    if pypi:
        offset = line_around(text, pypi[-1].value.end)[1]
        added = newline_at(text, pypi[-1].start) + line
    else:
        newline = newline_at(text, 0)
        offset = len(text)
        lead = "" if text.endswith("\n\n") else newline if text.endswith("\n") else newline * 2
        added = f"{lead}[pypi-dependencies]{newline}{line}{newline}"
    what = f"declares {PACKAGE}, which is on PyPI, as {name} is declared for conda"
    after = data(text[:offset] + added + text[offset:])
    before = data(text)
    if before is None or after is None or not grown({"pypi-dependencies": {}, **before}, after, PACKAGE):
        return Located(
            left=[Left(0, "dependency-by-hand", f"{name} is declared here", f"add {line} to [pypi-dependencies]")]
        )
    return Located([Insertion(offset, added, what)])


KIND = DependencyKind(
    "pixi", _matches, locate, locks=(("pixi.lock", "pixi lock"),), needles=(b"pypi-dependencies", b"[dependencies]")
)
RULE = dependency_rule(KIND, "pixi.toml")
