"""Reading an SQLite file of a tracker without changing it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from instrument.verify.model import Run

SUFFIXES = frozenset({".db", ".sqlite", ".sqlite3"})


def tables(connection: sqlite3.Connection) -> set[str]:
    """The names of the tables."""
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def read_file(path: Path, read: Callable[[sqlite3.Connection], list[Run]], tracker: str) -> list[Run]:
    """Open the file read-only and read it; a file that is damaged gives one run that says so."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            return read(connection)
    except sqlite3.Error as error:
        return [Run(id=path.name, tracker=tracker, folder=path.parent, damage=[f"{path.name} can't be read: {error}"])]
