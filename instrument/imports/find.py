"""Finds the stores of trackers below a folder and reads the runs in them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from instrument import sdk
from instrument.errors import InstrumentError
from instrument.imports.ledger import Ledger
from instrument.imports.model import Finished
from instrument.imports.sources import Source, all_sources

#: Never searched: version control, installed packages, caches, and Probe's own queue.
SKIPPED = frozenset(
    (".git", ".hg", ".svn", "node_modules", "__pycache__", "site-packages", ".tox", ".mypy_cache", ".ruff_cache")
)
#: A run without an end whose file was written to this recently is taken to be still going.
_GOING = 600.0


def files(root: Path) -> Iterator[Path]:
    """Every file below a folder (or the file itself), by name. Links to folders are not followed (`latest-run`)."""
    if root.is_file():
        yield root
        return
    for folder, names, found in os.walk(root):
        names[:] = sorted(
            name
            for name in names
            if name not in SKIPPED
            and not os.path.isfile(os.path.join(folder, name, "pyvenv.cfg"))
            and not (name == sdk.OFFLINE_FOLDER and os.path.basename(folder) == "outbox")
        )
        for name in sorted(found):
            path = Path(folder, name)
            if not path.is_symlink():
                yield path


def stores(root: Path, sources: Sequence[Source] | None = None) -> dict[str, list[Path]]:
    """The files of each tracker (by a source's name) below a folder.

    Raises InstrumentError where there is no such folder.
    """
    if not root.exists():
        raise InstrumentError(
            "there is no such file or folder", path=str(root), hint="give the folder to search", code="no-target"
        )
    chosen = all_sources() if sources is None else sources
    found: dict[str, list[Path]] = {}
    for path in files(root):
        for source in chosen:
            if source.owns(path):
                found.setdefault(source.name, []).append(path)
    return found


def runs(root: Path, ledger: Ledger, sources: Sequence[Source] | None = None) -> list[Finished]:
    """The finished runs below a folder, each with its state. Raises as `stores` does."""
    root = root.resolve()
    owned = stores(root, sources)
    base = root if root.is_dir() else root.parent
    found: list[Finished] = []
    for source in all_sources() if sources is None else sources:
        if source.name in owned:
            found += source.read(base, owned[source.name])
    now = time.time()
    for one in found:
        if one.tier == "none":
            one.state = "empty"
        elif (known := ledger.state(one.external_id)) is not None:
            one.state = known
        elif one.run.status is None and now - one.written < _GOING:
            one.state = "running"
    return found
