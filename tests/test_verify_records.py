"""What the readers make of records: whole, cut anywhere, damaged, and held against the libraries that write them."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from instrument.verify.environment import environment, removed
from instrument.verify.model import Run
from instrument.verify.records import all_readers, probe_outbox, read_all, wandb_run
from instrument.verify.records._wire import Schema, decode, log_records


def test_every_file_here_is_a_reader() -> None:
    assert {reader.name for reader in all_readers()} >= {
        "probe", "miles", "wandb", "tensorboard", "mlflow", "trackio", "swanlab",
    }  # fmt: skip


WRITE = """
import math, sys
import wandb
run = wandb.init(project="toy", name="one", config={"lr": 0.1, "deep": {"x": 1}})
wandb.define_metric("train/*", step_metric="train/gstep")
wandb.define_metric("best", summary="max")
for n in range(400):
    run.log({"loss": 1 / (n + 1), "flag": n % 2 == 0, "big": 2 ** 60 + n, "text": "x" * 300, "nan": math.nan,
             "nest": {"deep": {"er": n}}, "page": wandb.Html("<b>")}, step=n * 2)
    run.log({"train/x": float(n), "train/gstep": n * 10})
run.summary["only"] = 3
run.finish()
"""


@pytest.fixture(scope="module")
def wandb_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("wandb")
    folder = tmp_path_factory.mktemp("wandb")
    env = environment(os.environ, folder, "test")
    subprocess.run([sys.executable, "-c", WRITE], env=env, check=True, capture_output=True, cwd=folder)
    [path] = folder.rglob("*.wandb")
    return path


def test_a_wandb_run(wandb_file: Path) -> None:
    run = wandb_run.read_file(wandb_file)
    assert (run.name, run.status, run.config["lr"], run.damage) == ("one", "completed", 0.1, [])
    assert run.process.executable and run.process.pid
    assert set(run.series) == {"loss", "flag", "big", "nan", "nest.deep.er", "train/x", "train/gstep"}
    assert run.points["loss"][3][:2] == (6, 0.25) and len(run.points["loss"]) == 400
    assert run.series["train/x"].axis == "train/gstep" and run.points["train/x"][7][:2] == (70, 7.0)
    assert run.points["flag"][0].value == 1.0 and run.points["big"][1].value == float(2**60 + 1)
    assert all(wall and wall > 1e9 for wall in run.series["loss"].walls)


def test_field_numbers_are_those_that_wandb_ships() -> None:
    schema = pytest.importorskip("wandb.proto.wandb_internal_pb2")

    def check(fields: Schema, message: object) -> None:
        for name, field in fields.items():
            shipped = message.fields_by_name[name]  # type: ignore[attr-defined]
            assert shipped.number == field.number, name
            if field.message:
                check(field.message, shipped.message_type)

    check(wandb_run.RECORD, schema.Record.DESCRIPTOR)


def test_the_same_history_as_through_the_schema_that_wandb_ships(wandb_file: Path) -> None:
    schema = pytest.importorskip("wandb.proto.wandb_internal_pb2")
    theirs = []
    for raw in log_records(wandb_file.read_bytes()):
        record = schema.Record()
        record.ParseFromString(raw)
        if record.WhichOneof("record_type") == "history":
            items = {".".join(item.nested_key) or item.key: json.loads(item.value_json) for item in record.history.item}
            theirs += [(items["_step"], items["loss"])] if "loss" in items else []
    assert len(theirs) == 400
    assert [point[:2] for point in wandb_run.read_file(wandb_file).points["loss"]] == theirs


def test_a_run_file_that_is_still_being_written(wandb_file: Path, tmp_path: Path) -> None:
    data, path = wandb_file.read_bytes(), tmp_path / "run-x.wandb"
    assert len(data) > 2 * 32768, "the test must cross blocks"
    whole = wandb_run.read_file(wandb_file).points["loss"]
    for cut in [0, 3, 7, 8, 100, *random.Random(0).sample(range(len(data)), 25)]:
        path.write_bytes(data[:cut])
        run = wandb_run.read_file(path)
        points = run.points.get("loss", [])
        assert points == whole[: len(points)] and not run.damage


def test_a_damaged_run_file_raises_nothing(wandb_file: Path, tmp_path: Path) -> None:
    data, path, chance = bytearray(wandb_file.read_bytes()), tmp_path / "run-x.wandb", random.Random(1)
    for _ in range(300):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 20, 100))):
            broken[chance.randrange(7, len(broken))] = chance.randrange(256)
        path.write_bytes(broken)
        wandb_run.read_file(path)
    for size in (1, 7, 50, 5000):
        path.write_bytes(chance.randbytes(size))
        wandb_run.read_file(path)
        with pytest.raises(ValueError):
            while True:  # some random message is damaged
                decode(chance.randbytes(20), wandb_run.RECORD)


def test_a_field_sent_in_another_way_is_skipped_as_protobuf_skips_it() -> None:
    # 0x10: field 2 ("history") as a number, where the schema has a message; then the exit code, as it should be
    assert decode(bytes([0x10, 0x05, 0x92, 0x01, 0x02, 0x08, 0x03]), wandb_run.RECORD) == {"exit": [{"exit_code": [3]}]}


def test_a_step_that_is_no_number_leaves_the_count(tmp_path: Path) -> None:
    item = b"\x0a\x05_step" + b"\x82\x01\x03NaN"
    row = b"\x0a" + bytes([len(item)]) + item
    record = b"\x12" + bytes([len(row)]) + row
    path = tmp_path / "run-x.wandb"
    path.write_bytes(b":W&B\x00\x00\x00" + b"\x00" * 4 + bytes([len(record), 0, 1]) + record)
    assert wandb_run.read_file(path).damage == []


def test_a_probe_outbox_with_damage(tmp_path: Path) -> None:
    folder = tmp_path / "outbox" / "offline" / "k"
    (folder / "ops").mkdir(parents=True)
    (folder / "offline.json").write_text(json.dumps({"name": "n", "run_ref": "local:k"}))
    points = {
        "points": [{"key": "loss", "step_index": 1, "value": float("nan"), "labels": {}}, {"key": "free", "value": 2}]
    }
    repeat = {"points": [{"key": "loss", "step_index": 1, "value": 3, "labels": {"repeat": 1}}]}
    operations: list[object] = [
        {"kind": "create_run", "create": {"body": {"name": "made", "config": {"a": 1}, "external_id": "wandb:abcdef"}}},
        {"kind": "http", "method": "POST", "path": "/v1/runs/local:k/metrics", "body": points, "producer_id": "sdk:h:77:x"},
        {"kind": "http", "method": "POST", "path": "/v1/runs/local:k/metrics", "body": repeat},
        {"kind": "http", "method": "PATCH", "path": "/v1/runs/local:k", "body": {"config_merge": {"b": 2}}},
        {"kind": "http", "method": "PATCH", "path": "/v1/runs/local:k", "body": {"foreign_keys": {"wandb_run_id": "q"}}},
        {"kind": "http", "method": "PATCH", "path": "/v1/runs/local:k", "body": {"status": "failed", "summary": {"probe_finish": {"dropped_writes": 3}}}},
        {"kind": "http", "method": "POST", "path": "/v1/runs/local:k/metrics", "body": {"points": [{"key": "x", "value": "?"}]}},
        [],
    ]  # fmt: skip
    for number, operation in enumerate(operations):
        (folder / "ops" / f"{number:012d}-x.json").write_text(json.dumps(operation))
    (folder / "ops" / "000000000099-x.json").write_text('{"kind": "http", "bo')
    [run] = probe_outbox.READER.read([path for path in tmp_path.rglob("*.json") if probe_outbox.READER.owns(path)])
    assert (run.name, run.status, run.config, run.process.pid) == ("made", "failed", {"a": 1, "b": 2}, 77)
    assert run.links >= {"wandb:abcdef", "q"}
    assert (
        run.points["free"] == [(None, 2.0, None)] and len(run.points["loss"]) == 1 and run.series["loss"].repeats == 1
    )
    assert len(run.damage) == 4 and any("dropped 3 writes" in text for text in run.damage)


def test_a_database_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"not a database, only called so" * 100)
    with sqlite3.connect(tmp_path / "y.db") as connection:
        connection.execute("CREATE TABLE metrics (a)")
    probe, trackers = read_all(sorted(tmp_path.iterdir()))
    assert not probe and all(isinstance(run, Run) and not run.series for run in trackers)


def test_an_mlflow_folder_store(tmp_path: Path) -> None:
    run = tmp_path / "mlruns" / "0" / "abc"
    (run / "metrics" / "val").mkdir(parents=True)
    (run / "meta.yaml").write_text("run_id: abc\n")
    (run / "metrics" / "loss").write_text("1700000000000 0.5 0\n1700000001000 nan 3\n")
    (run / "metrics" / "val" / "acc").write_text("1700000000000 inf 2\n")
    _, [read] = read_all([path for path in tmp_path.rglob("*") if path.is_file()])
    assert read.points["loss"][0][:2] == (0, 0.5)
    assert read.points["val/acc"] == [(2, float("inf"), 1700000000.0)]


def test_what_is_taken_from_the_environment(tmp_path: Path) -> None:
    names = [
        "WANDB_API_KEY",
        "PROBE_TOKEN",
        "HF_TOKEN",
        "MY_SECRET",
        "DB_PASSWORD",
        "MLFLOW_TRACKING_TOKEN",
        "wandb_api_key",
    ]
    kept = ["PATH", "HOME", "PYTHONPATH", "WANDB_PROJECT", "HF_HOME", "TOKENIZERS_PARALLELISM", "CUDA_VISIBLE_DEVICES"]
    assert removed([*names, *kept]) == sorted(names)
    assert removed(["HF_TOKEN"], keep=["HF_TOKEN"]) == []
    made = environment({"PROBE_RUN_ID": "x", "WANDB_MODE": "online", "PATH": "p"}, tmp_path, "m")
    assert (made["PROBE_MODE"], made["WANDB_MODE"], made["PATH"]) == ("offline", "offline", "p")
    assert "PROBE_RUN_ID" not in made
    assert all(
        str(tmp_path) in made[name] for name in ("PROBE_OUTBOX_DIR", "WANDB_DIR", "TRACKIO_DIR", "MLFLOW_TRACKING_URI")
    )
