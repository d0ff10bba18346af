"""Take the last apply back: the same bytes as before, created files gone, no trace of us after the last one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from instrument.errors import InstrumentError
from instrument.patch.journal import Journal, Manifest


def undo(root: Path | str) -> Manifest:
    """Undo the newest apply that wrote below `root` (a file's own folder counts); call again for the one before.

    Works with and without git. Returns what was taken back. Raises ConflictError, naming the file and with nothing
    done, where one changed since; InstrumentError where there is nothing to undo.
    """
    folder = _folder(root)
    for place in Journal.places(folder):
        if not place.begun:
            continue
        with place as journal:
            manifest = _newest(journal, folder)
            if manifest is None:
                continue
            journal.check(manifest)
            journal.put_back(journal.save(replace(manifest, state="undoing")))
            return manifest
    raise InstrumentError("there is nothing to undo", path=str(root), code="nothing-to-undo")


def applied(root: Path | str) -> list[Manifest]:
    """What can be undone below `root`, newest first. Reads only: an apply that was killed is in it too."""
    folder = _folder(root)
    found = []
    for place in Journal.places(folder):
        if place.begun and not place.state.is_symlink():
            found += [m for m in reversed(place.manifests()) if _below(place, m, folder)]
    return found


def _folder(root: Path | str) -> Path:
    path = Path(root).resolve()
    return path.parent if path.is_file() else path


def _below(journal: Journal, manifest: Manifest, folder: Path) -> bool:
    return any((journal.base / (manifest.prefix + f.path)).is_relative_to(folder) for f in manifest.files)


def _newest(journal: Journal, folder: Path) -> Manifest | None:
    return next((m for m in reversed(journal.manifests()) if _below(journal, m, folder)), None)
