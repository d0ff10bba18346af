"""Makefiles whose recipes install the tracker. Tabs, `$$` and line continuations stay as they are."""

from __future__ import annotations

import re
from collections.abc import Sequence

from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._make import recipes
from instrument.launch._pip import install_insertions
from instrument.launch._text import Located
from instrument.repo.source import Source


def _matches(path: str) -> bool:
    base = path.rsplit("/", 1)[-1]
    return bool(re.fullmatch(r"(GNU)?[Mm]akefile(\.\w+)?|.*\.mk", base))


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in the install commands of the recipes."""
    return install_insertions(recipes(source.text), names)


KIND = DependencyKind("makefile", _matches, locate, declares=False)
RULE = dependency_rule(KIND, "Makefile recipes")
