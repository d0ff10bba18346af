"""Probe's offline outbox: one folder a run, one file a write (`probe.outbox/1`, probe-research 0.337)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from instrument.verify.model import Process, Run
from instrument.verify.records import Reader

MANIFEST = "offline.json"


def _owns(path: Path) -> bool:
    # ops/ holds what is queued; failed/ what `probe sync` could not deliver. Both were recorded.
    return path.suffix == ".json" and (path.name == MANIFEST or path.parent.name in ("ops", "failed", "waiting"))


def seconds(text: object) -> float | None:
    """An ISO time as seconds since the epoch; None for anything else."""
    if not isinstance(text, str):
        return None
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return None


def load(path: Path) -> dict[str, Any] | None:
    """A JSON object (NaN and infinities allowed); None where the file is cut, empty or something else."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def strings(value: object) -> Iterator[str]:
    """Every text in a nested value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def _producer_pid(producer: object) -> int | None:
    # "sdk:<host>:<pid>:<random>"
    parts = producer.split(":") if isinstance(producer, str) else []
    return int(parts[-2]) if len(parts) >= 4 and parts[-2].isdigit() else None


def _apply(run: Run, operation: dict[str, Any]) -> None:
    if operation.get("kind") == "create_run":
        create = operation.get("create") or {}
        body = create.get("body") or {}
        run.name = body.get("name") or run.name
        run.external_id = body.get("external_id") or run.external_id
        run.config.update(body.get("config") or {})
        run.links.update(strings({k: body.get(k) for k in ("external_id", "metadata", "foreign_keys", "tags")}))
        return
    run.process.pid = run.process.pid or _producer_pid(operation.get("producer_id"))
    body, method = operation.get("body") or {}, operation.get("method")
    address = str(operation.get("path") or "")
    if method == "POST" and address.endswith("/metrics"):
        for point in body.get("points") or ():
            series = run.get(str(point.get("key")))
            if (point.get("labels") or {}).get("repeat"):
                series.repeats += 1
                continue
            series.add(point.get("step_index"), float(point.get("value")), seconds(point.get("wall_clock")))
    elif method == "PATCH":
        run.config.update(body.get("config_merge") or {})
        run.links.update(strings(body.get("foreign_keys") or {}))
        run.status = body.get("status") or run.status
        finish = (body.get("summary") or {}).get("probe_finish") or {}
        if finish.get("dropped_writes"):
            run.damage.append(f"the SDK dropped {finish['dropped_writes']} writes (no room on disk?)")


def _read(files: Sequence[Path]) -> list[Run]:
    folders: dict[Path, list[Path]] = {}
    for path in files:
        folders.setdefault(path.parent if path.name == MANIFEST else path.parent.parent, []).append(path)
    runs = []
    for folder, paths in sorted(folders.items()):
        run = Run(id=folder.name, tracker="probe", folder=folder, process=Process())
        # The names of the operations begin with their number, so they sort in the order they were written.
        for path in sorted(paths, key=lambda path: path.name):
            value = load(path)
            if value is None:
                run.damage.append(f"{path.name} can't be read")
            elif path.name == MANIFEST:
                run.name = run.name or value.get("name")
            else:
                try:
                    _apply(run, value)
                except (TypeError, ValueError, AttributeError) as error:
                    run.damage.append(f"{path.name} has an unknown form ({error})")
        runs.append(run)
    return runs


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PROBE_MODE": "offline",
        "PROBE_OUTBOX_DIR": str(folder / "outbox"),
        # Its login and device files live beside the configuration: none of the person's is read.
        "PROBE_CONFIG_PATH": str(folder / "probe-config.json"),
        "PROBE_AUTO_LOGIN": "0",
        "PROBE_TELEMETRY": "0",
    }


READER = Reader(name="probe", title="Probe", side="probe", environment=_environment, owns=_owns, read=_read)
