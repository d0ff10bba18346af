"""SwanLab's offline run files (`run-<id>.swanlab`, swanlab 0.10), with the configuration that lies beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from instrument.imports.model import Finished
from instrument.imports.sources import Source, relative, written
from instrument.verify.model import Run
from instrument.verify.records import swanlab
from instrument.verify.records._wire import TIME, Field, one, seconds

SCHEMA = {
    **swanlab.RECORD,
    "start": Field(
        10,
        "message",
        {
            **(swanlab.RECORD["start"].message or {}),
            "project": Field(1, "text"),
            "workspace": Field(2, "text"),
            "description": Field(5, "text"),
            "tags": Field(6, "text"),
            "started_at": Field(12, "message", TIME),
        },
    ),
    "finish": Field(11, "message", {"state": Field(1, "int"), "finished_at": Field(3, "message", TIME)}),
    "media": Field(14, "message", {"key": Field(1, "text")}),
}


def _config(folder: Path) -> dict[str, object]:
    """`files/config.yaml`: a mapping of a name to `{value, ...}`."""
    path = folder / "files" / "config.yaml"
    if not path.is_file():
        return {}
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        value = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))
    except (OSError, ValueError, YAMLError):
        return {}
    if not isinstance(value, dict):
        return {}
    return {str(k): v["value"] if isinstance(v, dict) and "value" in v else v for k, v in value.items()}


def _one(root: Path, path: Path) -> Finished:
    found = Finished(
        external_id="", run=Run(id="", tracker="swanlab"), path=relative(root, path.parent), written=written([path])
    )
    workspace = ""

    def take(record: Mapping[str, list[Any]]) -> None:
        nonlocal workspace
        for start in record.get("start", ()):
            found.project = one(start, "project", "") or found.project
            workspace = one(start, "workspace", "") or workspace
            found.notes = one(start, "description", "") or found.notes
            found.tags = list(start.get("tags", [])) or found.tags
            found.started = seconds(one(start, "started_at")) or found.started
        for finish in record.get("finish", ()):
            found.ended = seconds(one(finish, "finished_at")) or found.ended
        for media in record.get("media", ()):
            key = one(media, "key", "")
            if key not in found.media:
                found.media.append(key)

    found.run = swanlab.read_file(path, SCHEMA, take)
    found.run.config.update(_config(path.parent))
    named = {"swanlab_run_id": found.run.id, "swanlab_project": found.project or "", "swanlab_workspace": workspace}
    found.foreign_keys = {key: value for key, value in named.items() if value}
    found.external_id = "swanlab:" + "/".join(part for part in (workspace, found.project, found.run.id) if part)
    found.settle()
    return found


SOURCE = Source(
    name="swanlab",
    title="SwanLab",
    owns=lambda path: path.suffix == ".swanlab",
    read=lambda root, files: [_one(root, path) for path in files],
)
