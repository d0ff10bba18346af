"""Makefiles whose recipes install the tracker. Tabs, `$$` and line continuations stay as they are."""

from __future__ import annotations

from collections.abc import Sequence

from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._make import is_makefile, recipes
from instrument.launch._pip import install_insertions
from instrument.launch._text import Located
from instrument.repo.source import Source


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in the install commands of the recipes."""
    return install_insertions(recipes(source.text), names)


KIND = DependencyKind("makefile", is_makefile, locate, declares=False)
RULE = dependency_rule(KIND, "Makefile recipes")
