"""What was imported before: a line for each run that came through whole, beside the SDK's offline queue.

The queue itself says what waits there; after `probe sync` it is empty, and the ledger is what still knows. A run that
is in the queue but not in the ledger was interrupted: its part is taken out and written again, so that it is there once.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from instrument import sdk
from instrument.errors import InstrumentError
from instrument.imports.model import State

NAME = "instrument-imports.jsonl"
#: In the run's metadata: who wrote it.
MARK = "probe-instrument"


def outbox(environ: dict[str, str] | None = None) -> Path:
    """The SDK's outbox folder for this environment."""
    env = os.environ if environ is None else environ
    if given := env.get(sdk.OUTBOX_DIR):
        return Path(given)
    state = env.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "probe" / "outbox"


class Ledger:
    """The imports that are known on this machine. Reading never writes."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = outbox() if folder is None else folder
        self.path = self.folder / NAME
        self._done = {line["external_id"]: line for line in self._lines()}
        self._queued: dict[str, Path] | None = None

    def _lines(self) -> Iterator[dict[str, Any]]:
        try:
            text = self.path.read_text("utf-8")
        except OSError:
            return
        for line in text.splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                continue  # the line that was written when the machine stopped
            if isinstance(value, dict) and isinstance(value.get("external_id"), str):
                yield value

    @property
    def queued(self) -> dict[str, Path]:
        """The folders in the offline queue that an import wrote, by external id."""
        if self._queued is None:
            self._queued = {}
            for manifest in sorted((self.folder / sdk.OFFLINE_FOLDER).glob(f"*/{sdk.MANIFEST}")):
                body = _created(manifest.parent)
                imported = (body.get("metadata") or {}).get("imported")
                if isinstance(imported, dict) and imported.get("by") == MARK and body.get("external_id"):
                    self._queued[body["external_id"]] = manifest.parent
        return self._queued

    def state(self, external_id: str) -> State | None:
        """Whether a run is at Probe, waits in the queue, or was begun; None where nothing is known of it."""
        if external_id in self._done:
            return "queued" if external_id in self.queued else "imported"
        return "partial" if external_id in self.queued else None

    def drop_partial(self, external_id: str) -> None:
        """Take what an interrupted import left in the queue out of it."""
        if self.state(external_id) == "partial":
            shutil.rmtree(self.queued.pop(external_id))

    def done(self, external_id: str, **facts: object) -> None:
        """Write that a run came through whole."""
        line = {"external_id": external_id, **facts}
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._done[external_id] = line
        self._queued = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """One import at a time: two would each take the other's for an interrupted one. Raises InstrumentError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{NAME}.lock").open("w") as file:
            try:
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:
                pass  # Windows
            except OSError:
                raise InstrumentError("another import is at work", hint="wait for it to end", code="busy") from None
            yield


def _created(folder: Path) -> dict[str, Any]:
    """The body of the write that made a queued run; {} where it can't be read."""
    ops = sorted((folder / sdk.OPS_FOLDER).glob("*.json"))
    for path in ops[:1]:
        try:
            value = json.loads(path.read_bytes())
        except (OSError, ValueError):
            return {}
        if isinstance(value, dict) and value.get("kind") == sdk.CREATE_KIND:
            body = (value.get("create") or {}).get("body")
            return body if isinstance(body, dict) else {}
    return {}
