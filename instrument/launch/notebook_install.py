"""`!pip install` and `%pip install` lines of a notebook that is instrumented."""

from __future__ import annotations

from collections.abc import Sequence

from instrument.errors import SourceError
from instrument.launch._dependencies import DependencyKind, dependency_rule
from instrument.launch._names import PACKAGE, distribution
from instrument.launch._text import Insertion, Located
from instrument.repo.notebook import NotebookSource
from instrument.repo.source import Source


def _matches(path: str) -> bool:
    return path.endswith(".ipynb")


def locate(source: Source, names: Sequence[str]) -> Located:
    """Where the package goes in the install commands of a notebook: if one has one of `names`."""
    if not isinstance(source, NotebookSource):
        return Located()
    try:
        installs = source.installs
    except SourceError:
        return Located()
    listed = [({distribution(name) for name in install.names}, install) for install in installs]
    if any(PACKAGE in found for found, _ in listed):
        return Located(present=True)
    for name in names:
        if any(name in found and install.usable for found, install in listed):
            # A command that always runs, or one in each branch: `if on_colab: !pip ... else: !pip ...`.
            what = f"installs {PACKAGE} where {name} is installed"
            return Located([Insertion(at, f" {PACKAGE}", what) for at in source.install_positions([name])])
    return Located()


KIND = DependencyKind("notebook_install", _matches, locate, alone=True, needles=(b"pip install", b"pip3 install"))
RULE = dependency_rule(KIND, "Install commands in notebooks")
