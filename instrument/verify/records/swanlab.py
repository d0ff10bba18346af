"""SwanLab's offline run file: W&B's framing, records of its own schema (`run-<id>.swanlab`, swanlab 0.10)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from instrument.verify.model import Process, Run
from instrument.verify.records import Reader
from instrument.verify.records._wire import TIME, Field, Schema, decode, log_records, one, seconds

RECORD = {
    "start": Field(10, "message", {"name": Field(4, "text"), "id": Field(10, "text")}),
    "finish": Field(11, "message", {"state": Field(1, "int")}),
    "scalar": Field(
        13,
        "message",
        {
            "key": Field(1, "text"),
            "step": Field(2, "int"),
            "timestamp": Field(4, "message", TIME),
            "value": Field(5, "message", {"number": Field(1, "double")}),
        },
    ),
}
#: swanlab.run.v1.RunState
_STATES = {1: "completed", 2: "failed", 3: "canceled"}


def _process(folder: Path) -> Process:
    try:
        runtime = json.loads((folder / "files" / "swanlab-metadata.json").read_text("utf-8"))["runtime"]
        return Process(pid=runtime.get("pid"), executable=runtime.get("python_executable"))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Process()


def read_file(
    path: Path, schema: Schema = RECORD, each: Callable[[Mapping[str, list[Any]]], None] = lambda record: None
) -> Run:
    """One run file, whole or cut. `each` is shown every record, decoded by `schema`, which has at least RECORD."""
    name = path.stem.removeprefix("run-")
    run = Run(id=name, tracker="swanlab", folder=path.parent, process=_process(path.parent))
    try:
        data = path.read_bytes()
    except OSError as error:
        run.damage.append(f"{path.name} can't be read: {error.strerror}")
        return run
    for raw in log_records(data):
        try:
            record = decode(raw, schema)
        except ValueError as error:
            run.damage.append(f"a record of {path.name} is damaged ({error})")
            continue
        each(record)
        for start in record.get("start", []):
            run.id, run.name = one(start, "id", run.id), one(start, "name", run.name)
        for scalar in record.get("scalar", []):
            key = one(scalar, "key", "")
            if not key.startswith("__swanlab__"):  # its own hardware charts
                # Zeros are not sent in protobuf 3: what is absent is 0.
                value = one(one(scalar, "value", {}), "number", 0.0)
                run.get(key).add(one(scalar, "step", 0), value, seconds(one(scalar, "timestamp")))
        for finish in record.get("finish", []):
            run.status = _STATES.get(one(finish, "state", 0))
    return run


def _read(files: Sequence[Path]) -> list[Run]:
    return [read_file(path) for path in files]


READER = Reader(
    name="swanlab",
    title="SwanLab",
    environment=lambda folder: {
        "SWANLAB_MODE": "offline",
        "SWANLAB_LOG_DIR": f"{folder / 'swanlab'}/",
        # The older name of the same.
        "SWANLAB_LOGDIR": str(folder / "swanlab"),
        "SWANLAB_SAVE_DIR": f"{folder / 'swanlab-save'}/",
    },
    owns=lambda path: path.suffix == ".swanlab",
    read=_read,
)
