"""Files that ship beside the code: templates and the skill, in a checkout or in an installed wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def folder(name: str) -> Path:
    """The folder `name` ("templates", "skills"): at the top of a checkout, or in `instrument/_data` of a wheel.

    Raises FileNotFoundError if it is in neither place, which means a broken installation.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "_data" / name, package.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"{name} is missing from this installation of probe-instrument")
