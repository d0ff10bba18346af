"""Frameworks whose door is a callback, run for real: what the framework itself keeps is what Probe got, each once.

Each program of `data/doors` knows nothing of Probe; it is instrumented, and run offline. What it keeps (Keras's History,
Stable-Baselines3's CSV, the boosters' evaluations) is read beside Probe's record.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from instrument.patch.diff import changes
from instrument.patch.proofs import prove
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository
from instrument.verify.model import Run
from instrument.verify.run import Request, run

DATA = Path(__file__).parent / "data" / "doors"

pytestmark = [pytest.mark.framework, pytest.mark.slow]

#: Of one run: by key, the value at each step.
Rows = dict[str, dict[int, float]]


def needs(*modules: str) -> None:
    for module in (*modules, "probe"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


def instrumented(folder: Path, script: str) -> Path:
    """A program on its own in a folder, with Probe's calls in it."""
    folder.mkdir()
    shutil.copy(DATA / script, folder)
    repo = Repository(folder)
    plan = make_plan(repo)
    prove(repo, plan, make_plan)
    for change in changes(repo, plan):
        (folder / change.path).write_bytes(change.after)
    return folder


def trained(tmp_path: Path, script: str) -> tuple[Path, list[Run]]:
    """Its folder after a run, and what Probe recorded."""
    folder, records = instrumented(tmp_path / "trainer", script), tmp_path / "records"
    records.mkdir()
    outcome = run(Request(command=(sys.executable, script), cwd=folder, folder=records, timeout=300))
    assert outcome.exit_code == 0, outcome
    return folder, outcome.probe


def rows(found: Run) -> Rows:
    """What was recorded; each key once at a step."""
    return {key: points(series) for key, series in found.series.items()}


def points(series: object) -> dict[int, float]:
    steps = [int(step) for step in series.axes["step"]]  # type: ignore[attr-defined]
    assert len(steps) == len(set(steps))
    return dict(zip(steps, series.values))  # type: ignore[attr-defined]


def by_index(history: dict[str, list[float]]) -> Rows:
    return {key: dict(enumerate(values)) for key, values in history.items()}


def same(found: list[Run], expected: list[Rows]) -> None:
    """Each run once, closed as completed; order does not matter."""
    assert [one.status for one in found] == ["completed"] * len(expected)
    left = [rows(one) for one in found]
    for want in expected:
        match = next((one for one in left if close(one, want)), None)
        assert match is not None, (want, left)
        left.remove(match)
    assert not left


def close(one: Rows, other: Rows) -> bool:
    return one.keys() == other.keys() and all(
        one[key].keys() == other[key].keys()
        and all(math.isclose(one[key][at], other[key][at], rel_tol=1e-5) for at in one[key])
        for key in one
    )


def test_keras(tmp_path: Path) -> None:
    needs("keras", "torch")
    folder, found = trained(tmp_path, "keras_fit.py")
    same(found, [by_index(history) for history in json.loads((folder / "record.json").read_text())])


def test_a_fit_that_raises_is_closed_as_failed(tmp_path: Path) -> None:
    """When the next one starts where it was caught, when the program ends where it was not."""
    needs("keras", "torch")
    folder, records = instrumented(tmp_path / "trainer", "keras_raises.py"), tmp_path / "records"
    records.mkdir()
    outcome = run(Request(command=(sys.executable, "keras_raises.py"), cwd=folder, folder=records, timeout=300))
    assert outcome.exit_code == 1
    found = sorted((one.status, [*rows(one)["loss"]]) for one in outcome.probe)
    assert found == [("completed", [0, 1, 2, 3]), ("failed", [0, 1]), ("failed", [0, 1])]


def test_stable_baselines3(tmp_path: Path) -> None:
    """`learn` that goes on with `reset_num_timesteps=False` is one run."""
    needs("stable_baselines3", "gymnasium")
    folder, found = trained(tmp_path, "sb3_learn.py")
    expected: list[Rows] = []
    for name in ("logs", "more"):
        kept: Rows = {}
        with (folder / name / "progress.csv").open() as file:
            for row in csv.DictReader(file):
                step = int(row["time/total_timesteps"])
                for key, value in row.items():
                    if value:
                        kept.setdefault(key, {})[step] = float(value)
        expected.append(kept)
    same(found, expected)


def test_lightgbm(tmp_path: Path) -> None:
    """Also where it stops early, of which no callback is told."""
    needs("lightgbm", "sklearn")
    folder, found = trained(tmp_path, "lightgbm_train.py")
    kept = json.loads((folder / "record.json").read_text())
    flat = [{f"{data}/{key}": v for data, metrics in one.items() for key, v in metrics.items()} for one in kept]
    same(found, [by_index(one) for one in flat])


def test_xgboost(tmp_path: Path) -> None:
    """Also the round in which another callback stops it; and the mean and spread of cross-validation."""
    needs("xgboost", "sklearn")
    folder, found = trained(tmp_path, "xgboost_train.py")
    *kept, crossed = json.loads((folder / "record.json").read_text())
    flat = [{f"{data}-{key}": v for data, metrics in one.items() for key, v in metrics.items()} for one in kept]
    same(found, [by_index(one) for one in (*flat, crossed)])


def test_catboost(tmp_path: Path) -> None:
    """Counts from 1, as CatBoost does. Not in CI: its wheel has 100 MB."""
    needs("catboost")
    folder, found = trained(tmp_path, "catboost_fit.py")
    kept = json.loads((folder / "record.json").read_text())
    flat = {f"{data}/{key}": v for data, metrics in kept.items() for key, v in metrics.items()}
    same(found, [{key: dict(enumerate(values, start=1)) for key, values in flat.items()}])


def test_fastai(tmp_path: Path) -> None:
    """What its Recorder keeps, a run for each fit; looking for a learning rate is none. Not in CI."""
    needs("fastai", "torch")
    folder, found = trained(tmp_path, "fastai_fit.py")
    kept = json.loads((folder / "record.json").read_text())
    names = ("train_loss", "valid_loss", "mae")
    same(found, [by_index({name: [row[at] for row in fit] for at, name in enumerate(names)}) for fit in kept])


PROGRAMS = [
    ("keras", "keras_fit.py"), ("stable_baselines3", "sb3_learn.py"), ("lightgbm", "lightgbm_train.py"),
    ("xgboost", "xgboost_train.py"), ("catboost", "catboost_fit.py"), ("fastai", "fastai_fit.py"),
]  # fmt: skip


@pytest.mark.parametrize(("module", "script"), PROGRAMS)
def test_training_goes_on_without_probe(tmp_path: Path, module: str, script: str) -> None:
    """Missing, and broken in the ways that a package can be."""
    needs(module)
    folder = instrumented(tmp_path / "trainer", script)
    (folder / "probe.py").write_text("raise ImportError('no SDK here')\n")
    env = {name: value for name, value in os.environ.items() if not name.startswith("PROBE_")}
    done = subprocess.run([sys.executable, script], cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("Probe is off") == 1, done.stderr
