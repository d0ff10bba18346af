"""MLflow's local stores: the SQLite database that it makes by default, and the older folder `mlruns` (MLflow 3.17).

Both are read with the standard library: the table `metrics` and the files of a folder store have had this form since
MLflow 1, and MLflow itself would migrate a database it opens.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from instrument.verify.model import Run
from instrument.verify.records import Reader
from instrument.verify.records._sqlite import SUFFIXES, read_file, tables

_STATUS = {"FINISHED": "completed", "FAILED": "failed", "KILLED": "canceled"}
#: What the database store writes for an infinity.
_LARGEST = 1.7976931348623157e308


def _number(value: float, is_nan: bool) -> float:
    if is_nan:
        return math.nan
    return math.copysign(math.inf, value) if abs(value) >= _LARGEST else float(value)


def _database(connection: sqlite3.Connection) -> list[Run]:
    if not {"runs", "metrics", "params"} <= tables(connection):
        return []
    runs: dict[str, Run] = {}
    for run_id, name, status in connection.execute("SELECT run_uuid, name, status FROM runs ORDER BY start_time"):
        runs[run_id] = Run(id=run_id, tracker="mlflow", name=name or None, status=_STATUS.get(status))
    for key, value, time, run_id, step, is_nan in connection.execute(
        "SELECT key, value, timestamp, run_uuid, step, is_nan FROM metrics ORDER BY timestamp, rowid"
    ):
        if run_id in runs and not key.startswith("system/"):
            runs[run_id].get(key).add(step, _number(value, bool(is_nan)), time / 1000)
    for key, value, run_id in connection.execute("SELECT key, value, run_uuid FROM params"):
        if run_id in runs:
            runs[run_id].config[key] = value
    return list(runs.values())


def _folder(folder: Path, files: Sequence[Path]) -> Run:
    """One run of a folder store: a file a metric, a line "time value step" a point."""
    run = Run(id=folder.name, tracker="mlflow", folder=folder)
    for path in files:
        key = path.relative_to(folder / "metrics").as_posix()
        try:
            for line in path.read_text("utf-8").splitlines():
                time, value, *step = line.split()
                run.get(key).add(int(step[0]) if step else 0, float(value), int(time) / 1000)
        except (OSError, ValueError) as error:
            run.damage.append(f"metrics/{key} can't be read: {error}")
    return run


def _store(path: Path) -> Path | None:
    """The run's folder, for a file below its `metrics/`."""
    for parent in path.parents:
        if parent.name == "metrics" and (parent.parent / "meta.yaml").is_file():
            return parent.parent
    return None


def _read(files: Sequence[Path]) -> list[Run]:
    runs: list[Run] = []
    folders: dict[Path, list[Path]] = {}
    for path in files:
        if path.suffix in SUFFIXES:
            runs += read_file(path, _database, "mlflow")
        elif folder := _store(path):
            folders.setdefault(folder, []).append(path)
    return [*runs, *(_folder(folder, paths) for folder, paths in sorted(folders.items()))]


READER = Reader(
    name="mlflow",
    title="MLflow",
    environment=lambda folder: {
        "MLFLOW_TRACKING_URI": f"sqlite:///{folder / 'mlflow.db'}",
        "MLFLOW_DISABLE_TELEMETRY": "true",
    },
    owns=lambda path: path.suffix in SUFFIXES or ("metrics" in path.parts and _store(path) is not None),
    read=_read,
)
