"""W&B's local run folders: online, offline, resumed, cut (`[offline-]run-<time>-<id>/run-<id>.wandb`, wandb 0.31).

A folder whose log is missing or unreadable gives the final values out of `files/wandb-summary.json`, and says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from instrument.imports.model import Finished, merged
from instrument.imports.sources import Source, relative, written
from instrument.verify.model import Run
from instrument.verify.records import wandb_run
from instrument.verify.records._wire import TIME, Field, one, seconds

_FOLDER = re.compile(r"(?:offline-)?run-(\d{8}_\d{6})-(.+)")
_SUMMARY = {
    "update": Field(
        1, "message", {"key": Field(1, "text"), "nested_key": Field(2, "text"), "value_json": Field(16, "text")}
    ),
    "remove": Field(2, "message", {"key": Field(1, "text"), "nested_key": Field(2, "text")}),
}
_RUN = {
    **(wandb_run.RECORD["run"].message or {}),
    "entity": Field(2, "text"),
    "project": Field(3, "text"),
    "summary": Field(5, "message", _SUMMARY),
    "run_group": Field(6, "text"),
    "job_type": Field(7, "text"),
    "notes": Field(9, "text"),
    "tags": Field(10, "text"),
    "start_time": Field(17, "message", TIME),
}
SCHEMA = {
    **wandb_run.RECORD,
    "run": Field(17, "message", _RUN),
    "summary": Field(3, "message", _SUMMARY),
    "files": Field(6, "message", {"files": Field(1, "message", {"path": Field(1, "text")})}),
}

#: What W&B itself puts beside a run.
_OWN_FILES = frozenset("requirements.txt conda-environment.yaml output.log config.yaml diff.patch".split())
_OWN_FOLDERS = ("media/", "wandb-", "logs/", "code/", "diff")


def _owns(path: Path) -> bool:
    if path.suffix == ".wandb":
        return True
    return path.name == "wandb-summary.json" and _FOLDER.fullmatch(_home(path).name) is not None


def _home(path: Path) -> Path:
    """The run's folder, for its log or its summary."""
    return path.parent.parent if path.parent.name == "files" else path.parent


def _json(text: str | None) -> Any:
    try:
        return json.loads(text) if text is not None else None
    except ValueError:
        return None


class _Beside:
    """What stands in a log beside the curves."""

    def __init__(self, found: Finished) -> None:
        self.found = found
        self.entity = ""
        self.media: dict[str, None] = {}
        self.files: dict[str, None] = {}
        self.summary: dict[str, str | None] = {}

    def take(self, record: Mapping[str, list[Any]]) -> None:
        for history in record.get("history", ()):
            for item in history.get("item", ()):
                nested = item.get("nested_key")
                if nested:
                    if nested[-1] == "_type":
                        self.media[".".join(nested[:-1])] = None
                elif (text := one(item, "value_json", ""))[:1] == "{" and '"_type"' in text:
                    self.media[one(item, "key", "")] = None
        for summary in record.get("summary", ()):
            self._summary(summary)
        for files in record.get("files", ()):
            for file in files.get("files", ()):
                self.files[one(file, "path", "")] = None
        for run in record.get("run", ()):
            found = self.found
            self.entity = one(run, "entity", "") or self.entity
            found.project = one(run, "project", "") or found.project
            found.notes = one(run, "notes", "") or found.notes
            found.tags = list(run.get("tags", [])) or found.tags
            found.started = seconds(one(run, "start_time")) or found.started
            for key in ("run_group", "job_type"):
                if value := one(run, key, ""):
                    found.foreign_keys[f"wandb_{key.removeprefix('run_')}"] = value
            for summary in run.get("summary", ()):
                self._summary(summary)

    def _summary(self, summary: Mapping[str, list[Any]]) -> None:
        for update in summary.get("update", ()):
            # W&B writes it with every row: read only in the end.
            self.summary[_key(update)] = one(update, "value_json")
        for removed in summary.get("remove", ()):
            self.summary.pop(_key(removed), None)


def _key(item: Mapping[str, list[Any]]) -> str:
    return ".".join(item.get("nested_key") or item.get("key") or [""])


def _final(values: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The final values that say more than the curves: those of no curve, and those that are not its last value."""
    final: dict[str, Any] = {}
    for key, value in values.items():
        if key.startswith("_") or not isinstance(value, bool | int | float | str):
            continue
        series = run.series.get(key)
        if series is None or value != series.values[-1]:
            final[key] = value
    return final


def _part(root: Path, folder: Path, files: Sequence[Path]) -> Finished:
    log = next((path for path in files if path.suffix == ".wandb"), None)
    match = _FOLDER.fullmatch(folder.name)
    run_id = match[2] if match else (log.stem.removeprefix("run-") if log else folder.name)
    found = Finished(
        external_id="", run=Run(id=run_id, tracker="wandb"), path=relative(root, folder), written=written(files)
    )
    beside = _Beside(found)
    if log is not None:
        found.run = wandb_run.read_file(log, SCHEMA, beside.take)
    else:
        found.run.damage.append(f"{folder.name} has no run file")
    run = found.run
    values = {**_summary_file(files), **{key: _json(text) for key, text in beside.summary.items()}}
    found.summary = _final(values, run)
    kept = (path for path in beside.files if path and path not in _OWN_FILES and not path.startswith(_OWN_FOLDERS))
    found.media = [*beside.media, *kept]
    walls = [wall for series in run.series.values() for wall in series.walls[-1:] if wall is not None]
    found.ended = max(walls, default=None)
    if not run.size:
        step = values.get("_step")
        found.ended = values.get("_timestamp") if isinstance(values.get("_timestamp"), float) else None
        found.settle(step if isinstance(step, int) else 0)
    else:
        found.settle()
    parts = [beside.entity, found.project or "", run.id]
    # The form of the SDK's own connector: a run that it imports from the server later is known as the same.
    found.external_id = "wandb:" + "/".join(part for part in parts if part)
    named = {"wandb_run_id": run.id, "wandb_project": found.project or "", "wandb_entity": beside.entity}
    found.foreign_keys = {**{key: value for key, value in named.items() if value}, **found.foreign_keys}
    return found


def _summary_file(files: Sequence[Path]) -> dict[str, Any]:
    for path in files:
        if path.name == "wandb-summary.json":
            try:
                value = json.loads(path.read_text("utf-8"))
            except (OSError, ValueError):
                return {}
            return value if isinstance(value, dict) else {}
    return {}


def _read(root: Path, files: Sequence[Path]) -> list[Finished]:
    folders: dict[Path, list[Path]] = {}
    for path in files:
        folders.setdefault(_home(path), []).append(path)
    runs: dict[str, list[Finished]] = {}
    # By name, which begins with the time: a run that was resumed has a folder for each time it was.
    for folder, paths in sorted(folders.items(), key=lambda item: (item[0].name.removeprefix("offline-"), item[0])):
        part = _part(root, folder, paths)
        runs.setdefault(part.external_id, []).append(part)
    return [merged(parts) for parts in runs.values()]


SOURCE = Source(name="wandb", title="W&B", owns=_owns, read=_read)
