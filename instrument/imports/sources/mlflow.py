"""MLflow's local stores: the folder `mlruns` and the SQLite database (MLflow 3.17), with parameters, tags and times."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from instrument.imports.model import Finished
from instrument.imports.sources import Source, relative, written
from instrument.verify.model import Run
from instrument.verify.records import mlflow
from instrument.verify.records._sqlite import SUFFIXES, tables

#: Of MLflow's own tags these are worth keeping.
_OWN = "mlflow."
#: RunStatus of a folder store's meta.yaml (mlflow/entities/run_status.py).
_STATUS: dict[object, str | None] = {3: "completed", 4: "failed", 5: "canceled"}
_LISTED = 50


def _owns(path: Path) -> bool:
    if path.suffix in SUFFIXES:
        return True
    return path.name == "meta.yaml" and (path.parent / "metrics").is_dir() and (path.parent / "params").is_dir()


def _finished(run: Run, path: str, experiment: str | None, tags: Mapping[str, str], times: tuple[Any, Any]) -> Finished:
    found = Finished(
        external_id=f"mlflow:{run.id}",
        run=run,
        path=path,
        project=experiment,
        tags=[f"{key}={value}" for key, value in tags.items() if not key.startswith(_OWN)],
        notes=tags.get("mlflow.note.content"),
        started=times[0] / 1000 if isinstance(times[0], int) else None,
        ended=times[1] / 1000 if isinstance(times[1], int) else None,
        foreign_keys={"mlflow_run_id": run.id, **({"mlflow_experiment": experiment} if experiment else {})},
    )
    if parent := tags.get("mlflow.parentRunId"):
        found.foreign_keys["mlflow_parent_run_id"] = parent
    return found


def _artifacts(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    files = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file())
    return [name for _, name in zip(range(_LISTED), files)]


def _yaml(path: Path) -> dict[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        value = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))
    except (OSError, ValueError, YAMLError):
        return {}
    return value if isinstance(value, dict) else {}


def _texts(folder: Path) -> dict[str, str]:
    """A file a parameter or tag; a name with slashes is a path."""
    values: dict[str, str] = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_file():
            try:
                values[path.relative_to(folder).as_posix()] = path.read_text("utf-8")
            except (OSError, ValueError):
                continue
    return values


def _folder(root: Path, meta: Path) -> Finished | None:
    folder = meta.parent
    said = _yaml(meta)
    if said.get("lifecycle_stage") == "deleted":
        return None
    files = [path for path in sorted((folder / "metrics").rglob("*")) if path.is_file()]
    read = mlflow.READER.read(files) if files else []
    run = read[0] if read else Run(id=folder.name, tracker="mlflow", folder=folder)
    tags = _texts(folder / "tags")
    run.name = said.get("run_name") or tags.get("mlflow.runName") or None
    run.status = _STATUS.get(said.get("status"))
    run.config.update(_texts(folder / "params"))
    experiment = _yaml(folder.parent / "meta.yaml").get("name")
    times = (said.get("start_time"), said.get("end_time"))
    found = _finished(run, relative(root, folder), str(experiment) if experiment else None, tags, times)
    found.media = _artifacts(folder / "artifacts")
    found.written = written([meta, *files])
    found.settle()
    return found


def _database(root: Path, path: Path) -> list[Finished]:
    by_id = {run.id: run for run in mlflow.READER.read([path])}
    found: list[Finished] = []
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            if not {"runs", "metrics", "params", "tags", "experiments"} <= tables(connection):
                return []
            tags: dict[str, dict[str, str]] = {}
            for run_id, key, value in connection.execute("SELECT run_uuid, key, value FROM tags"):
                tags.setdefault(run_id, {})[key] = value
            for run_id, began, ended, uri, experiment in connection.execute(
                "SELECT r.run_uuid, r.start_time, r.end_time, r.artifact_uri, e.name FROM runs r "
                "LEFT JOIN experiments e ON e.experiment_id = r.experiment_id "
                "WHERE r.lifecycle_stage IS NULL OR r.lifecycle_stage <> 'deleted' ORDER BY r.start_time"
            ):
                if run_id not in by_id:
                    continue
                one = _finished(by_id[run_id], relative(root, path), experiment, tags.get(run_id, {}), (began, ended))
                local = urlparse(uri or "")
                if local.scheme in ("", "file") and local.path:
                    one.media = _artifacts(Path(unquote(local.path)))
                # A run that is still going writes its points into the same database as all others.
                one.written = written([path]) if by_id[run_id].status is None else 0.0
                one.settle()
                found.append(one)
    except sqlite3.Error:
        return []
    return found


def _read(root: Path, files: Sequence[Path]) -> list[Finished]:
    found: list[Finished] = []
    for path in files:
        if path.suffix in SUFFIXES:
            found += _database(root, path)
        elif (one := _folder(root, path)) is not None:
            found.append(one)
    known: dict[str, Finished] = {}
    for one in found:
        known.setdefault(one.external_id, one)
    return list(known.values())


SOURCE = Source(name="mlflow", title="MLflow", owns=_owns, read=_read)
