"""W&B's local run file: a framed log of protobuf records (`run-<id>.wandb`, as wandb 0.31 writes it).

wandb's own reader of it is gone since 0.30 (`wandb.sdk.internal.datastore`), the schema is still shipped
(`wandb.proto.wandb_internal_pb2`). Its field numbers stand here as data, so that a run can be read where wandb is not
installed beside this tool; a test holds them against the shipped schema.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from instrument.verify.model import Process, Run, Step
from instrument.verify.records import Reader
from instrument.verify.records._wire import Field, Schema, decode, log_records, one

#: Keys of a row that count the trainer's own steps, for rows that no `define_metric` speaks of: Hugging Face,
#: Lightning and `sync_tensorboard` put them into each row.
STEP_KEYS = ("train/global_step", "trainer/global_step", "global_step")

_CONFIG = {
    "update": Field(
        1, "message", {"key": Field(1, "text"), "nested_key": Field(2, "text"), "value_json": Field(16, "text")}
    )
}
_ITEM = {
    "key": Field(1, "text"),
    "nested_key": Field(2, "text"),
    # Newer schemas can carry typed values; 0.31 still writes value_json.
    "integer": Field(5, "int"),
    "number": Field(6, "double"),
    "value_json": Field(16, "text"),
}
RECORD = {
    "history": Field(
        2, "message", {"item": Field(1, "message", _ITEM), "step": Field(2, "message", {"num": Field(1, "int")})}
    ),
    "config": Field(5, "message", _CONFIG),
    "tbrecord": Field(9, "bytes"),
    "metric": Field(
        12, "message", {"name": Field(1, "text"), "glob_name": Field(2, "text"), "step_metric": Field(4, "text")}
    ),
    "run": Field(
        17,
        "message",
        {"run_id": Field(1, "text"), "config": Field(4, "message", _CONFIG), "display_name": Field(8, "text")},
    ),
    "exit": Field(18, "message", {"exit_code": Field(1, "int")}),
    "environment": Field(26, "message", {"program": Field(6, "text"), "executable": Field(14, "text")}),
}


@dataclass(slots=True)
class _Row:
    step: int
    wall: float | None = None
    #: Scalars by W&B's name for them (nested keys joined with a dot).
    values: dict[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Axes:
    """What `define_metric` said: the step metric of a key, of a glob, and the keys that serve as one."""

    names: dict[str, str] = field(default_factory=dict)
    globs: dict[str, str] = field(default_factory=dict)

    def take(self, metric: Mapping[str, list[Any]]) -> None:
        name, glob = one(metric, "name", ""), one(metric, "glob_name", "")
        step_metric = one(metric, "step_metric", "")
        if name:
            self.names[name] = step_metric
        elif glob:
            self.globs[glob] = step_metric

    def of(self, key: str) -> str:
        """The step metric of a key, "" where there is none. Exact names win over globs, longer ones over shorter."""
        if key in self.names:
            return self.names[key]
        fitting = [glob for glob in self.globs if fnmatchcase(key, glob)]
        return self.globs[max(fitting, key=len)] if fitting else ""

    @property
    def step_metrics(self) -> set[str]:
        return {name for name in (*self.names.values(), *self.globs.values()) if name}


def _json(text: str | None) -> object:
    try:
        return json.loads(text) if text is not None else None
    except ValueError:
        return None


def _scalar(item: Mapping[str, list[Any]]) -> float | None:
    value = one(item, "integer", one(item, "number"))
    if value is None:
        text = one(item, "value_json")
        try:
            return float(text)  # what nearly all values are; JSON's own reading of a number costs twice as much
        except (TypeError, ValueError):
            value = _json(text)
    if value in ("Infinity", "-Infinity", "NaN"):
        return float(str(value).replace("Infinity", "inf"))
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return None


def _row(history: Mapping[str, list[Any]], number: int) -> _Row:
    row = _Row(step=one(one(history, "step", {}), "num", 0 if history.get("step") else number))
    items = {".".join(item.get("nested_key") or item.get("key") or [""]): item for item in history.get("item", [])}
    # An image, a table or a histogram is a mapping with a `_type`; sizes and the like below it are no metrics.
    media = tuple(key[: -len("_type")] for key in items if key.endswith("._type"))
    for key, item in items.items():
        if key[:1] == "_" and key not in ("_timestamp", "_step"):
            continue
        value = _scalar(item)
        if value is None or (media and key.startswith(media)):
            continue
        if key == "_timestamp":
            row.wall = value
        elif key == "_step":
            row.step = int(value) if math.isfinite(value) else row.step
        elif not key.startswith("_"):
            row.values[key] = value
    return row


def _fill(run: Run, rows: Sequence[_Row], axes: _Axes, synced: bool) -> None:
    last: dict[str, float] = {}
    counters = tuple(key for key in STEP_KEYS if any(key in row.values for row in rows))
    run.axis_keys = axes.step_metrics | set(counters)
    for row in rows:
        last.update({key: row.values[key] for key in run.axis_keys if key in row.values})
        for key, value in row.values.items():
            defined = axes.of(key)
            steps: dict[str, Step] = {}
            if defined and defined in last:
                steps[defined] = _whole(last[defined])
            steps["_step"] = row.step
            for counter in counters:
                if counter in row.values:
                    steps.setdefault(counter, _whole(row.values[counter]))
            if key in run.axis_keys:
                steps.setdefault(key, _whole(value))
            series = run.get(key)
            for name in {**dict.fromkeys(steps), **dict.fromkeys(series.axes)}:
                # An axis that a row does not know is None there, so that all stay in step with the values.
                column = series.axes.setdefault(name, [None] * len(series.values))
                column.append(steps.get(name))
            series.values.append(value)
            series.walls.append(row.wall)
    for key, series in run.series.items():
        defined = axes.of(key)
        if defined in series.axes:
            series.axes = {defined: series.axes[defined], **series.axes}
            series.axes[defined] = [
                plotted if plotted is not None else counted
                for plotted, counted in zip(series.axes[defined], series.axes["_step"])
            ]
            series.accepted = (defined, key) if key in run.axis_keys else (defined,)
        else:
            whole = [name for name, steps in series.axes.items() if None not in steps]
            series.accepted = tuple(whole) or ("_step",)
        # `sync_tensorboard` hands on what TensorBoard stored: 32-bit floats, in as few digits as tell them apart.
        if synced and all(len(re.sub(r"e.*|\D", "", repr(value)).strip("0")) <= 9 for value in series.values):
            series.precision = "float32"


def _whole(value: float) -> Step:
    return int(value) if math.isfinite(value) and value == int(value) else value


def _pid(folder: Path) -> int | None:
    """The process that logged, out of wandb's own debug log ("... INFO MainThread:4711 [wandb_setup.py:...")."""
    try:
        head = (folder / "logs" / "debug.log").read_text("utf-8", "replace")[:4000]
    except OSError:
        return None
    found = re.search(r" MainThread:(\d+) | \w+\s*:(\d+) \[wandb", head)
    return int(found[1] or found[2]) if found else None


def read_file(
    path: Path, schema: Schema = RECORD, each: Callable[[Mapping[str, list[Any]]], None] = lambda record: None
) -> Run:
    """One run file, whole or cut. `each` is shown every record, decoded by `schema`, which has at least RECORD."""
    run = Run(
        id=path.stem.removeprefix("run-"), tracker="wandb", folder=path.parent, process=Process(pid=_pid(path.parent))
    )
    rows: list[_Row] = []
    axes = _Axes()
    synced = False
    try:
        data = path.read_bytes()
    except OSError as error:
        run.damage.append(f"{path.name} can't be read: {error.strerror}")
        return run
    for frame in log_records(data):
        try:
            record = decode(frame, schema)
        except ValueError as error:
            run.damage.append(f"a record of {path.name} is damaged ({error})")
            continue
        each(record)
        for history in record.get("history", []):
            rows.append(_row(history, len(rows)))
        synced = synced or "tbrecord" in record
        for metric in record.get("metric", []):
            axes.take(metric)
        for opened in record.get("run", []):
            run.id = one(opened, "run_id", run.id)
            run.name = one(opened, "display_name", run.name)
        for config in [*record.get("config", []), *(c for r in record.get("run", []) for c in r.get("config", []))]:
            for update in config.get("update", []):
                key = ".".join(update.get("nested_key") or update.get("key") or [""])
                if key != "_wandb":
                    run.config[key] = _json(one(update, "value_json"))
        for closed in record.get("exit", []):
            run.status = "completed" if one(closed, "exit_code", 0) == 0 else "failed"
        for environment in record.get("environment", []):
            run.process.executable = one(environment, "executable", run.process.executable)
            run.process.program = one(environment, "program", run.process.program)
    _fill(run, rows, axes, synced)
    return run


def _environment(folder: Path) -> dict[str, str]:
    return {
        "WANDB_MODE": "offline",
        "WANDB_DIR": f"{folder / 'wandb'}/",
        "WANDB_CONFIG_DIR": f"{folder / 'wandb-config'}/",
        "WANDB_ERROR_REPORTING": "false",
        # A script may ask for `mode="online"` in its own code: then there is no key, and no address that answers.
        "NETRC": str(folder / "netrc"),
        "WANDB_BASE_URL": "http://127.0.0.1:9",
    }


READER = Reader(
    name="wandb",
    title="W&B",
    environment=_environment,
    owns=lambda path: path.suffix == ".wandb",
    read=lambda files: [read_file(path) for path in files],
)
