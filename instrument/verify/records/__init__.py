"""Readers of what a run recorded, one file a tracker.

A module here has an object `READER`; nothing else has to be registered. Each says which environment makes its tracker
write below a private folder without sending anything, which files hold its records, and how they are read.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from instrument.verify.model import Run

Side = Literal["probe", "tracker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """One tracker's (or Probe's own) record.

    `environment` gives, for the private folder, the variables that keep the tracker local; the folders that they name
    are made by the runner when they end in a slash. `owns` tells by its path whether a file belongs to the record,
    wherever a program put it. `read` takes all such files and gives the runs; it raises nothing for damaged files, but
    says what it lost in `Run.damage`.
    """

    name: str
    title: str
    side: Side = "tracker"
    environment: Callable[[Path], Mapping[str, str]] = field(default=lambda folder: {})
    owns: Callable[[Path], bool]
    read: Callable[[Sequence[Path]], list[Run]]


@cache
def all_readers() -> tuple[Reader, ...]:
    """Every reader in this package, Probe's first, then by name."""
    found: list[Reader] = []
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_"):
            found.append(importlib.import_module(f"{__name__}.{info.name}").READER)
    return tuple(sorted(found, key=lambda reader: (reader.side, reader.name)))


def read_all(files: Sequence[Path]) -> tuple[list[Run], list[Run]]:
    """Read the records among these files. Returns Probe's runs and the trackers'."""
    sides: dict[Side, list[Run]] = {"probe": [], "tracker": []}
    for reader in all_readers():
        own = sorted(path for path in files if reader.owns(path))
        if own:
            sides[reader.side].extend(reader.read(own))
    return sides["probe"], sides["tracker"]
