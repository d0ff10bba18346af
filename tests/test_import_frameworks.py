"""`instrument import` on what MLflow, TensorBoard, trackio and SwanLab really write; and a long W&B run."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from instrument.imports import find
from instrument.imports.ledger import Ledger
from tests.test_import import instrument, queue, same
from tests.test_json import check

pytestmark = [pytest.mark.framework, pytest.mark.slow]

MLFLOW = """
import sys, mlflow
mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_experiment("toys")
for name in ("first", "second"):
    with mlflow.start_run(run_name=name, tags={"team": "a"}, description="what it is"):
        mlflow.log_params({"lr": 0.1, "model": "small"})
        for n in range(300):
            mlflow.log_metrics({"train/loss": 1 / (n + 1), "acc": n / 300}, step=n)
        mlflow.log_metric("final", float("nan"))
        mlflow.log_text("hello", "notes/a.txt")
try:
    with mlflow.start_run(run_name="broken"):
        mlflow.log_metric("train/loss", 2.0, step=3)
        raise SystemExit("no")
except SystemExit:
    pass
"""
TENSORBOARD = """
import sys, time
from torch.utils.tensorboard import SummaryWriter
import numpy
for part in range(2):
    writer = SummaryWriter("logs/exp1/train")
    for n in range(part * 80, part * 80 + 100):
        writer.add_scalar("loss", part + 1 / (n + 1), n)
    writer.add_histogram("weights", numpy.zeros(4), 1)
    writer.add_hparams({"lr": 0.5, "name": "sgd", "nesterov": True}, {"final": 1.0})
    writer.close()
    time.sleep(1.1)
writer = SummaryWriter("logs/exp1/eval")
writer.add_scalar("loss", 0.25, 100)
writer.close()
"""
OTHERS = """
import trackio, swanlab
trackio.init(project="toy", name="track", config={"lr": 0.1})
for n in range(40):
    trackio.log({"loss": 1 / (n + 1)})
trackio.finish()
swanlab.init(project="toy", experiment_name="swan", config={"lr": 0.2}, mode="offline", description="it flies")
for n in range(40):
    swanlab.log({"loss": 1 / (n + 1)}, step=n)
swanlab.finish()
"""
LONG = """
import wandb
run = wandb.init(project="toy", name="long", mode="offline")
for n in range(100_000):
    run.log({"loss": 1 / (n + 1)}, step=n)
run.finish()
"""


def python(program: str, folder: Path, *arguments: str, **more: str) -> None:
    env = {**os.environ, "HOME": str(folder), "WANDB_SILENT": "true", "TRACKIO_DIR": str(folder / "trackio"),
           "SWANLAB_LOG_DIR": str(folder / "swanlog"), "SWANLAB_SAVE_DIR": str(folder / "swansave"),
           "MLFLOW_DISABLE_TELEMETRY": "true", "TRACKIO_AUTO_LOG_GPU": "0", **more}  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=folder, env=env, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]


def imported(folder: Path, home: Path) -> dict[str, int]:
    """Import twice; every point is there, once. Returns the points of each run by name."""
    for expected in (True, False):
        document = check(json.loads(instrument(str(folder), "--run", "--json", home=home, PROBE_MODE="offline").stdout))
        assert bool(document["imported"]["runs"]) is expected and not document["imported"]["failed"]
    runs = queue(home)
    found = find.runs(folder, Ledger(home / "outbox"))
    assert {one.state for one in found} == {"queued"} and len(runs) == len(found)
    for one in found:
        same(one, runs[one.name])
    return {one.name: one.points for one in found}


@pytest.mark.parametrize("store", ["folder", "sqlite"])
def test_mlflow(tmp_path: Path, store: str) -> None:
    pytest.importorskip("mlflow")
    work = tmp_path / "work"
    uri = f"file://{work / 'mlruns'}" if store == "folder" else f"sqlite:///{work / 'mlflow.db'}"
    python(MLFLOW, work, uri, MLFLOW_ALLOW_FILE_STORE="true")
    assert imported(work, tmp_path / "home") == {"first": 601, "second": 601, "broken": 1}
    runs = queue(tmp_path / "home")
    assert runs["first"].config == {"lr": "0.1", "model": "small"}
    assert (runs["first"].status, runs["broken"].status) == ("completed", "failed")
    if store == "sqlite":
        with sqlite3.connect(work / "mlflow.db") as connection:
            rows = connection.execute("SELECT count(*) FROM metrics").fetchone()[0]
        assert rows == 601 * 2 + 1
    [first] = [one for one in find.runs(work, Ledger(tmp_path / "none")) if one.name == "first"]
    assert first.media == ["notes/a.txt"] and first.notes == "what it is" and first.tags == ["team=a"]
    assert first.project == "toys" and first.started and first.ended


def test_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    pytest.importorskip("torch")
    work = tmp_path / "work"
    python(TENSORBOARD, work)
    assert imported(work, tmp_path / "home") == {"logs/exp1/train": 200, "logs/exp1/eval": 1}
    train = queue(tmp_path / "home")["logs/exp1/train"]
    # 20 steps were written again after the restart: both values are there, the second labelled.
    assert (train.size, train.series["loss"].repeats) == (180, 20)
    assert train.config == {"lr": 0.5, "name": "sgd", "nesterov": True}
    # The same files in another place are the same runs.
    shutil.move(str(work / "logs"), str(tmp_path / "moved"))
    again = check(json.loads(instrument(str(tmp_path / "moved"), "--json", home=tmp_path / "home").stdout))
    assert {run["state"] for run in again["runs"]} == {"queued"}
    assert any("weights" in run["media"] for run in again["runs"])


def test_trackio_and_swanlab(tmp_path: Path) -> None:
    pytest.importorskip("trackio")
    pytest.importorskip("swanlab")
    work = tmp_path / "work"
    python(OTHERS, work)
    assert imported(work, tmp_path / "home") == {"track": 40, "swan": 40}
    runs = queue(tmp_path / "home")
    assert runs["track"].config["lr"] == 0.1 and runs["swan"].config["lr"] == 0.2


def test_a_hundred_thousand_steps_of_wandb(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    python(LONG, tmp_path / "work")
    assert imported(tmp_path / "work", tmp_path / "home") == {"long": 100_000}
    assert len(list((tmp_path / "home").rglob("ops/*.json"))) < 40
