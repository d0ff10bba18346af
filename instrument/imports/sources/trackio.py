"""Trackio's projects, one SQLite file each (trackio 0.43)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from instrument.imports.model import Finished
from instrument.imports.sources import Source, relative, written
from instrument.verify.records import trackio
from instrument.verify.records._sqlite import SUFFIXES


def _read(root: Path, files: Sequence[Path]) -> list[Finished]:
    found = []
    for path in files:
        for run in trackio.READER.read([path]):
            if run.damage and not run.series:
                continue  # no database, or another tracker's
            project = path.stem
            one = Finished(
                external_id=f"trackio:{project}/{run.id}",
                run=run,
                path=relative(root, path),
                project=project,
                written=written([path]),
                foreign_keys={"trackio_project": project, "trackio_run": run.name or run.id},
                started=run.began,
            )
            one.settle()
            found.append(one)
    return found


SOURCE = Source(name="trackio", title="Trackio", owns=lambda path: path.suffix in SUFFIXES, read=_read)
