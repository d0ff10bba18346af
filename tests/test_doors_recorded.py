"""Frameworks that keep their logger in an object, and Composer: run for real, Probe beside the framework's own record.

As in `test_doors_frameworks.py`. skrl and rsl_rl run in CI; the others where they are installed.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from instrument.verify.model import Run
from instrument.verify.run import Request, run

from .test_doors_frameworks import Rows, close, instrumented, needs, points, rows, same, trained

pytestmark = [pytest.mark.framework, pytest.mark.slow]


def tensorboard(tmp_path: Path, script: str) -> tuple[Rows, Rows]:
    """What Probe and TensorBoard have of the one run of a program, each in the order it was written."""
    folder, records = instrumented(tmp_path / "trainer", script), tmp_path / "records"
    records.mkdir()
    outcome = run(Request(command=(sys.executable, script), cwd=folder, folder=records, timeout=300))
    assert outcome.exit_code == 0, outcome
    [found], [kept] = outcome.probe, [one for one in outcome.trackers if one.tracker == "tensorboard"]
    assert found.status == "completed"
    # Two series of rsl_rl are at seconds, of which a short run has one: their values alone.
    return by_order(found), by_order(kept)


def by_order(found: Run) -> Rows:
    return {
        key: dict(enumerate(series.values)) if key.endswith("/time") else points(series)
        for key, series in found.series.items()
    }


def test_skrl(tmp_path: Path) -> None:
    needs("skrl", "torch", "gymnasium", "tensorboard")
    found, kept = tensorboard(tmp_path, "skrl_train.py")
    assert len(kept) > 5 and close(found, kept)


def test_rsl_rl(tmp_path: Path) -> None:
    needs("rsl_rl", "torch", "tensordict", "tensorboard")
    found, kept = tensorboard(tmp_path, "rsl_rl_train.py")
    assert "Train/mean_reward" in kept and close(found, kept)


def test_tianshou(tmp_path: Path) -> None:
    needs("tianshou", "torch", "tensorboard")
    found, kept = tensorboard(tmp_path, "tianshou_train.py")
    assert {"training/env_step", "test/returns_stat/mean", "update/update_step", "info/epoch"} <= kept.keys()
    assert close(found, kept)


def test_mmengine(tmp_path: Path) -> None:
    """Training rows at iterations, validation rows at epochs, as its own JSON has them."""
    needs("mmengine", "torch", "cv2")
    folder, found = trained(tmp_path, "mmengine_train.py")
    kept: dict[str, list[tuple[int, float]]] = {}
    [path] = folder.glob("work/*/vis_data/scalars.json")
    for line in path.read_text().splitlines():
        row = json.loads(line)
        step = row.pop("step")
        for key, value in row.items():
            kept.setdefault(key, []).append((step, value))
    [one] = found
    assert one.status == "completed"
    got = {key: list(zip(series.axes["step"], series.values)) for key, series in one.series.items()}
    assert got == kept


def test_composer(tmp_path: Path) -> None:
    needs("composer", "torch")
    folder, found = trained(tmp_path, "composer_train.py")
    kept: Rows = {}
    for row, step in json.loads((folder / "record.json").read_text()):
        for key, value in row.items():
            kept.setdefault(key, {}).setdefault(step, value)
    same(found, [kept])


def test_ultralytics(tmp_path: Path) -> None:
    """Its CSV has five decimals, and a row less: the metrics of the best weights, at one epoch more."""
    needs("ultralytics", "torch", "cv2")
    folder, found = trained(tmp_path, "ultralytics_train.py")
    assert [one.status for one in found] == ["completed"]
    [path] = folder.rglob("results.csv")
    got = rows(found[0])
    with path.open() as file:
        for row in csv.DictReader(file):
            step = int(row.pop("epoch"))
            for key, value in row.items():
                if key != "time":
                    assert got[key][step] == pytest.approx(float(value), abs=1e-5), key
    assert set(got["metrics/mAP50(B)"]) == {1, 2, 3} and set(got["train/box_loss"]) == {1, 2}


def test_timm(tmp_path: Path) -> None:
    needs("timm", "torch")
    folder, found = trained(tmp_path, "timm_train.py")
    kept: Rows = {}
    with (folder / "summary.csv").open() as file:
        for row in csv.DictReader(file):
            for key, value in row.items():
                kept.setdefault(key, {})[int(row["epoch"])] = float(value)
    same(found, [kept])


PROGRAMS = ("skrl", "rsl_rl", "tianshou", "mmengine", "composer", "ultralytics")


@pytest.mark.parametrize("module", PROGRAMS)
def test_training_goes_on_without_probe(tmp_path: Path, module: str) -> None:
    needs(module, *(["tensordict"] if module == "rsl_rl" else []))
    script = f"{module}_train.py"
    folder = instrumented(tmp_path / "trainer", script)
    (folder / "probe.py").write_text("raise ImportError('no SDK here')\n")
    env = {name: value for name, value in os.environ.items() if not name.startswith("PROBE_")}
    done = subprocess.run([sys.executable, script], cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Probe is off") == 1, done.stderr
