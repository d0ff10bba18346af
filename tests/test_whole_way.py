"""The whole way on real frameworks: a script that knows nothing of Probe, `instrument apply`, a few steps, `verify`.

Where the framework logs to W&B, every one of its points is found at Probe; where it has a record of its own (what Ray's
workers reported, a trial's results, RLlib's results), that is what Probe got, each once, a run for each trial.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from pathlib import Path

import pytest

from instrument.verify.model import Run
from instrument.verify.run import Request, run
from instrument.verify.session import verify
from tests import cases
from tests.test_doors_frameworks import needs, rows, same

DATA = Path(__file__).parent / "data" / "whole"

pytestmark = [pytest.mark.framework, pytest.mark.slow]


def applied(tmp_path: Path, script: str) -> tuple[Path, Path]:
    """A program on its own in a folder after `instrument apply`, and a folder for the records."""
    folder, records = tmp_path / "trainer", tmp_path / "records"
    folder.mkdir()
    records.mkdir()
    shutil.copy(DATA / script, folder)
    code, report = cases.instrument("apply", str(folder), "--yes")
    assert code == 0, report
    assert "probe" in (folder / script).read_text()
    assert cases.instrument("check", str(folder))[0] == 0
    return folder, records


@pytest.mark.parametrize(
    ("script", "packages", "keys", "points"),
    [
        ("hf_train.py", ("transformers",), ("train/loss", "train/learning_rate", "eval/loss", "train/epoch"), 18),
        ("trl_sft.py", ("trl", "datasets"), ("train/loss", "train/mean_token_accuracy", "train/num_tokens"), 12),
        ("lightning_fit.py", ("lightning",), ("train/loss_step", "train/loss_epoch", "val/loss", "epoch"), 16),
        ("accelerate_loop.py", ("accelerate",), ("train/loss", "train/epoch"), 8),
    ],
)
def test_everything_that_wandb_got(
    tmp_path: Path, script: str, packages: tuple[str, ...], keys: tuple[str, ...], points: int
) -> None:
    needs(*packages, "torch", "wandb")
    folder, records = applied(tmp_path, script)
    result = verify(Request(command=(sys.executable, script), cwd=folder, folder=records, timeout=500), folder)
    assert result.passed, [(k.key, k.verdict, k.detail) for one in result.comparison.runs for k in one.keys]
    [one] = result.comparison.runs
    compared = {key.key: key for key in one.keys if key.verdict == "equal"}
    assert set(keys) <= set(compared)
    assert sum(len(key.tracker.values) for key in compared.values() if key.tracker) >= points


def recorded(tmp_path: Path, script: str) -> tuple[Path, list[Run]]:
    """Its folder after a run on a Ray cluster of its own, and what Probe recorded."""
    folder, records = applied(tmp_path, script)
    assert os.environ.get("RAY_ADDRESS", "local") == "local"
    outcome = run(Request(command=(sys.executable, script), cwd=folder, folder=records, timeout=500))
    assert outcome.exit_code == 0, outcome
    return folder, outcome.probe


def test_ray_train(tmp_path: Path) -> None:
    """Two workers report, one run: that of the worker with rank 0, whose metrics Ray keeps."""
    needs("ray", "torch")
    folder, found = recorded(tmp_path, "ray_train_report.py")
    kept = json.loads((folder / "record.json").read_text())
    same(found, [{key: {int(step): value for step, value in points.items()} for key, points in kept.items()}])
    # A worker is called by what it runs at the moment: RayTrainWorker, or the method of it.
    assert found[0].process.role.startswith("Ray actor or task ")


def test_ray_tune(tmp_path: Path) -> None:
    """Four trials, four runs: Tune counts a trial's reports from 1, Probe from 0."""
    needs("ray")
    folder, found = recorded(tmp_path, "ray_tune_trials.py")
    kept = json.loads((folder / "record.json").read_text())
    assert len(kept) == 4
    same(found, [{key: {int(i) - 1: v for i, v in points.items()} for key, points in one.items()} for one in kept])


def test_rllib(tmp_path: Path) -> None:
    """Each number of each result but for the settings that RLlib repeats in it, at its own iteration."""
    needs("ray", "torch", "gymnasium")
    folder, [one] = recorded(tmp_path, "rllib_loop.py")
    assert one.status == "completed"
    found = rows(one)
    kept = json.loads((folder / "record.json").read_text())
    assert [iteration for iteration, _ in kept] == [1, 2]
    wanted = {(key.replace("/", "."), at): value for at, numbers in kept for key, value in numbers.items()}
    got = {(key, at): value for key, points in found.items() for at, value in points.items()}
    assert len(wanted) > 100
    differing = {
        key: (value, got.get(key))
        for key, value in wanted.items()
        if not key[0].startswith("config.")
        and math.isfinite(value)
        and not math.isclose(got.get(key, math.nan), value, rel_tol=1e-6)
    }
    assert not differing
