"""The whole way where a framework logs to no tracker that W&B stands for: its own record is what Probe must have got.

Beside `test_whole_way.py`: kin of the Hugging Face Trainer (a subclass that overrides `log`, Seq2Seq, the trials of a
search) by what reached `on_log`, and Lightning's Trainers, one a fold, by its CSV and TensorBoard files.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
import sys
from pathlib import Path

import pytest

from instrument.verify.run import Request
from instrument.verify.session import Verification, verify
from tests import cases
from tests.test_doors_frameworks import Rows, needs, same

DATA = Path(__file__).parent / "data" / "end_to_end"

pytestmark = [pytest.mark.framework, pytest.mark.slow]


def verified(tmp_path: Path, *sources: str, command: tuple[str, ...] = ()) -> tuple[Path, Verification]:
    """Programs on their own in a folder, after `instrument apply`, run by verify."""
    folder, records = tmp_path / "trainer", tmp_path / "records"
    folder.mkdir()
    records.mkdir()
    for name in sources:
        if (DATA / name).is_dir():
            shutil.copytree(DATA / name, folder, dirs_exist_ok=True)
        else:
            shutil.copy(DATA / name, folder)
    code, report = cases.instrument("apply", str(folder), "--yes")
    assert code == 0, report
    assert cases.instrument("check", str(folder))[0] == 0
    request = Request(command=(sys.executable, *(command or sources[:1])), cwd=folder, folder=records, timeout=500)
    result = verify(request, folder)
    assert result.outcome.exit_code == 0 and not result.outcome.stray, result.outcome
    return folder, result


def by_key(history: list[dict[str, float]]) -> Rows:
    """What Hugging Face logged, under the names that its callbacks give it."""
    found: Rows = {}
    for row in history:
        for key, value in row.items():
            if key != "step":
                name = f"eval/{key.removeprefix('eval_')}" if key.startswith("eval_") else f"train/{key}"
                found.setdefault(name, {})[int(row["step"])] = value
    return found


def test_kin_of_the_hugging_face_trainer(tmp_path: Path) -> None:
    """A run for each training, and for each trial of a search, with what reached `on_log`, each once."""
    needs("transformers", "torch")
    folder, result = verified(tmp_path, "hf_family.py")
    kept = [by_key(history) for history in json.loads((folder / "record.json").read_text())]
    assert len(kept) == (5 if importlib.util.find_spec("optuna") else 2)
    assert kept[0]["train/doubled"][2] == 2 * kept[0]["train/loss"][2]
    same(result.outcome.probe, kept)


def in_csv(path: Path) -> Rows:
    """A file of Lightning's CSVLogger: rows of a step and what was logged at it, without the epoch in each."""
    found: Rows = {}
    with path.open() as file:
        for row in csv.DictReader(file):
            for key, value in row.items():
                if key not in ("step", "epoch") and value:
                    found.setdefault(key, {})[int(row["step"])] = float(value)
    return found


def test_a_lightning_trainer_for_each_fold(tmp_path: Path) -> None:
    """`logger=` one, several, collected in a loop, an argument, True; with False there is no run."""
    needs("lightning", "torch", "tensorboard")
    folder, result = verified(tmp_path, "lightning_folds.py")
    files = [path for path in sorted(folder.rglob("metrics.csv")) if "second" not in path.parts]
    kept = [in_csv(path) for path in files]
    assert len(kept) == 4 and all({"train/loss_step", "train/loss_epoch", "val/loss"} <= set(k) for k in kept)
    [by_tensorboard] = result.comparison.runs
    assert by_tensorboard.probe is not None and result.passed
    others = [one for one in result.outcome.probe if one.id != by_tensorboard.probe.id]
    for one in others:
        assert one.series.pop("epoch").values  # which Lightning adds to every row: twice where a step has two
    same(others, kept)


@pytest.mark.parametrize(
    ("package", "sources", "command", "keys"),
    [
        (
            "jsonargparse",
            ("lightning_cli.py", "cli.yaml"),
            ("lightning_cli.py", "fit", "--config", "cli.yaml"),
            {"train/loss", "val/loss", "epoch"},
        ),
        ("hydra", ("hydra",), ("train.py",), {"train/loss", "epoch"}),
    ],
)
def test_lightning_loggers_in_yaml(
    tmp_path: Path, package: str, sources: tuple[str, ...], command: tuple[str, ...], keys: set[str]
) -> None:
    """LightningCLI and Hydra build Probe's logger behind the first, from one more item of the YAML."""
    needs("lightning", "torch", "tensorboard", package)
    _, result = verified(tmp_path, *sources, command=command)
    assert result.passed
    [one] = result.comparison.runs
    assert {key.key for key in one.keys if key.verdict == "equal"} == keys
    assert len(result.outcome.probe) == 1 and result.outcome.probe[0].status == "completed"
