"""Pipfile: a line beside the tracker's. The lock file is left; `pipenv lock` refreshes it."""

from __future__ import annotations

from collections.abc import Sequence

from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._text import Located
from instrument.launch.pyproject import toml_insertions
from instrument.repo.source import Source


def _matches(path: str) -> bool:
    return path.rsplit("/", 1)[-1] == "Pipfile"


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in a Pipfile."""
    return toml_insertions(source.text, names)


KIND = DependencyKind("pipfile", _matches, locate, locks=(("Pipfile.lock", "pipenv lock"),), needles=(b"packages]",))
RULE = dependency_rule(KIND, "Pipfile")
