"""Readers of finished runs, one file a tracker, on top of the readers that `verify` has.

A module here has an object `SOURCE`; nothing else has to be registered.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from instrument.imports.model import Finished


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One tracker's stores: which files are theirs, and the runs in such files.

    `read` gets the folder that was searched and the files; it raises nothing for damaged ones (`Run.damage`).
    """

    name: str
    title: str
    owns: Callable[[Path], bool]
    read: Callable[[Path, Sequence[Path]], list[Finished]]


@cache
def all_sources() -> tuple[Source, ...]:
    """Every source in this package, by name."""
    found: list[Source] = []
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_"):
            found.append(importlib.import_module(f"{__name__}.{info.name}").SOURCE)
    return tuple(sorted(found, key=lambda source: source.name))


def relative(root: Path, path: Path) -> str:
    """A path below the searched folder, with slashes; its name alone where it lies elsewhere."""
    try:
        return path.relative_to(root).as_posix() or "."
    except ValueError:
        return path.name


def written(paths: Sequence[Path]) -> float:
    """When the last of the files was written; 0 where that can't be told."""
    times = [0.0]
    for path in paths:
        try:
            times.append(path.stat().st_mtime)
        except OSError:
            continue
    return max(times)
