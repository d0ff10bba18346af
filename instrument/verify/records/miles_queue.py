"""The queue of `probe.integrations.miles.ProbeBackend`: one JSON file a batch, below `<save>/probe/metrics/<run>/`.

It ignores PROBE_MODE; without a token it keeps everything in this queue (probe-research 0.337, schema
"miles.probe.metrics/v2").
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from instrument.verify.model import Process, Run
from instrument.verify.records import Reader
from instrument.verify.records.probe_outbox import load, seconds, strings

INTENT = "intent.json"


def _owns(path: Path) -> bool:
    if path.suffix != ".json":
        return False
    if path.name == INTENT:
        return (path.parent / "pending").is_dir()
    # Only the primary process writes intent.json; every one registers as a producer.
    return path.parent.name in ("pending", "inflight") and (path.parent.parent / "producers").is_dir()


def _queue(folder: Path, files: Sequence[Path]) -> Run:
    run = Run(id=folder.name, tracker="probe", folder=folder)
    # The names begin with the time in nanoseconds: batches of all processes in the order they were queued.
    for path in sorted(files, key=lambda path: (path.name != INTENT, path.name)):
        value = load(path)
        if value is None:
            run.damage.append(f"{path.name} can't be read")
            continue
        if path.name == INTENT:
            spec = value.get("run_spec") or {}
            run.name, run.config = spec.get("name"), dict(spec.get("config") or {})
            run.links.update(strings({"external_id": value.get("external_id"), "links": spec.get("links")}))
        elif value.get("type") == "finish":
            run.status = value.get("status")
        elif value.get("type") == "metrics":
            producer = str(value.get("producer_id") or "").split(":")
            if len(producer) >= 3 and producer[-2].isdigit() and (run.process.pid is None or producer[0] == "primary"):
                run.process = Process(pid=int(producer[-2]))
            for key, number in (value.get("metrics") or {}).items():
                run.get(str(key)).add(value.get("step"), float(number), seconds(value.get("created_at")))
    return run


def _read(files: Sequence[Path]) -> list[Run]:
    folders: dict[Path, list[Path]] = {}
    for path in files:
        folders.setdefault(path.parent if path.name == INTENT else path.parent.parent, []).append(path)
    return [_queue(folder, paths) for folder, paths in sorted(folders.items())]


READER = Reader(name="miles", title="Probe's Miles queue", side="probe", owns=_owns, read=_read)
