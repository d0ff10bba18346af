"""Trackio's SQLite files, one a project (trackio 0.43)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from instrument.verify.model import Run
from instrument.verify.records import Reader
from instrument.verify.records._sqlite import SUFFIXES, read_file, tables
from instrument.verify.records.probe_outbox import seconds

_SPECIAL = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def _scalars(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, float]]:
    for key, value in values.items():
        if isinstance(value, Mapping) and "_type" not in value:
            yield from _scalars(value, f"{prefix}{key}/")
        elif isinstance(value, str) and value in _SPECIAL:
            yield prefix + key, _SPECIAL[value]
        elif isinstance(value, bool | int | float):
            yield prefix + key, float(value)


def _object(text: str | bytes) -> dict[str, object]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _project(connection: sqlite3.Connection) -> list[Run]:
    if not {"metrics", "configs", "system_metrics"} <= tables(connection):
        return []
    # Older versions know a run by its name alone.
    columns = {row[1] for row in connection.execute("PRAGMA table_info(metrics)")}
    run_id = "run_id" if "run_id" in columns else "run_name"
    runs: dict[str, Run] = {}
    for key, name, time, step, metrics in connection.execute(
        f"SELECT {run_id}, run_name, timestamp, step, metrics FROM metrics ORDER BY id"
    ):
        run = runs.setdefault(key, Run(id=str(key), tracker="trackio", name=name, status="completed"))
        for metric, value in _scalars(_object(metrics)):
            run.get(metric).add(step, value, seconds(time))
    for key, config in connection.execute(f"SELECT {run_id}, config FROM configs"):
        if key in runs:
            runs[key].config.update({k: v for k, v in _object(config).items() if not k.startswith("_")})
    return list(runs.values())


def _read(files: Sequence[Path]) -> list[Run]:
    return [run for path in files for run in read_file(path, _project, "trackio")]


READER = Reader(
    name="trackio",
    title="Trackio",
    environment=lambda folder: {"TRACKIO_DIR": f"{folder / 'trackio'}/", "TRACKIO_AUTO_LOG_GPU": "0"},
    owns=lambda path: path.suffix in SUFFIXES,
    read=_read,
)
