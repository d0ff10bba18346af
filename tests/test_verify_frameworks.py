"""Parity on real frameworks, run offline: what Probe got is what W&B, TensorBoard, MLflow, Trackio and SwanLab got."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from instrument.verify.run import Request
from instrument.verify.session import Verification, verify

DATA = Path(__file__).parent / "data" / "verify"

Go = Callable[..., Verification]

pytestmark = [pytest.mark.framework, pytest.mark.slow]


def needs(*modules: str) -> None:
    """Skip where a framework is not installed, and say which."""
    for module in (*modules, "probe"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


@pytest.fixture
def go(tmp_path: Path) -> Go:
    """Run one of the programs in `data/verify` through verify."""

    def verified(*command: str, ignore: tuple[str, ...] = (), **options: object) -> Verification:
        folder, records = tmp_path / "trainer", tmp_path / "records"
        shutil.copytree(DATA, folder)
        records.mkdir()
        request = Request(command=command, cwd=folder, folder=records, timeout=500, **options)  # type: ignore[arg-type]
        result = verify(request, folder, ignore=ignore)
        assert not result.outcome.stray, result.outcome.stray
        return result

    return verified


def assert_equal(result: Verification, *keys: str, trackers: set[str], points: int) -> None:
    """All is equal, and it is what was meant to be compared, not nothing."""
    wrong = [(key.key, key.verdict, key.detail) for run in result.comparison.runs for key in run.keys]
    assert result.passed, (wrong, [run.cause for run in result.comparison.runs], result.notes)
    assert {run.tracker.tracker for run in result.comparison.runs} == trackers
    for run in result.comparison.runs:
        compared = {key.key: key for key in run.keys if key.verdict == "equal"}
        assert set(keys) <= set(compared)
        assert sum(len(key.tracker.values) for key in compared.values() if key.tracker) >= points


def test_hugging_face_trainer(go: Go) -> None:
    needs("transformers", "torch", "wandb", "tensorboard")
    result = go(sys.executable, "hf_trainer.py")
    keys = ("train/loss", "train/grad_norm", "train/learning_rate", "eval/loss", "train/epoch")
    assert_equal(result, *keys, trackers={"wandb", "tensorboard"}, points=40)


def test_trl_sft(go: Go) -> None:
    needs("trl", "datasets", "torch", "wandb")
    result = go(sys.executable, "trl_sft.py")
    assert_equal(result, "train/loss", "train/mean_token_accuracy", "eval/loss", trackers={"wandb"}, points=50)


def test_trl_grpo(go: Go) -> None:
    """GRPO times its own functions with `wandb.log` past every callback: those keys are named, and can be left out."""
    needs("trl", "datasets", "torch", "wandb")
    result = go(sys.executable, "trl_grpo.py", ignore=("profiling/*",))
    assert_equal(result, "train/reward", "train/completions/mean_length", trackers={"wandb"}, points=90)


def test_lightning(go: Go) -> None:
    needs("lightning", "torch", "wandb", "tensorboard")
    result = go(sys.executable, "lightning_fit.py")
    keys = ("train/loss_step", "train/loss_epoch", "val/loss", "epoch")
    assert_equal(result, *keys, trackers={"wandb", "tensorboard"}, points=36)


def test_single_file_rl(go: Go) -> None:
    """TensorBoard by step and W&B synced with it, as cleanrl does: 32-bit values on both sides."""
    needs("torch", "gymnasium", "wandb", "tensorboard")
    result = go(sys.executable, "cartpole.py")
    keys = ("charts/episodic_return", "losses/policy_loss")
    assert_equal(result, *keys, trackers={"wandb", "tensorboard"}, points=24)


def torchrun(*command: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", *command)


def test_torchrun_with_one_rank_that_logs(go: Go) -> None:
    needs("torch", "wandb")
    result = go(*torchrun("torchrun_gated.py"))
    assert_equal(result, "sum", "tensor", trackers={"wandb"}, points=16)
    assert [str(run.tracker.process).split(",")[0] for run in result.comparison.runs] == ["torchrun rank 0"]


def test_torchrun_with_all_ranks(go: Go) -> None:
    needs("torch", "wandb")
    result = go(*torchrun("torchrun_each.py", "all"))
    assert_equal(result, "loss", trackers={"wandb"}, points=5)
    assert len(result.comparison.runs) == 2


def test_torchrun_with_a_rank_left_out(go: Go) -> None:
    needs("torch", "wandb")
    result = go(*torchrun("torchrun_each.py", "first"))
    found = {run.tracker.name: run for run in result.comparison.runs}
    assert found["rank0"].verdict == "equal" and found["rank1"].verdict == "nothing recorded"
    assert "torchrun rank 1" in found["rank1"].cause and "Probe recorded in torchrun rank 0" in found["rank1"].cause


def test_ray_actors(go: Go) -> None:
    needs("ray", "wandb")
    result = go(sys.executable, "ray_actors.py", "all")
    assert_equal(result, "loss", trackers={"wandb"}, points=5)
    assert {run.tracker.process.role for run in result.comparison.runs} == {"Ray actor or task Trainer"}


def test_ray_actor_left_out(go: Go) -> None:
    needs("ray", "wandb")
    found = {run.tracker.name: run for run in go(sys.executable, "ray_actors.py", "first").comparison.runs}
    assert found["actor0"].verdict == "equal" and found["actor1"].verdict == "nothing recorded"
    assert "Ray actor or task Trainer" in found["actor1"].cause


def test_a_registry_in_a_ray_actor(go: Go) -> None:
    needs("ray", "wandb")
    result = go(sys.executable, "miles_train.py", "actor")
    assert_equal(result, "train/loss", "train/lr", trackers={"wandb"}, points=12)


def test_a_registry_in_the_driver_alone(go: Go) -> None:
    needs("ray", "wandb")
    [run] = go(sys.executable, "miles_train.py", "driver").comparison.runs
    assert run.verdict == "nothing recorded"
    assert "Ray actor or task Actor" in run.cause and "in the driver alone" in run.cause


@pytest.mark.parametrize("tracker", ["trackio", "swanlab", "mlflow"])
def test_other_trackers(go: Go, tracker: str) -> None:
    needs(tracker)
    result = go(sys.executable, "trackers.py", tracker)
    assert_equal(result, "loss", "nested/acc", "odd", trackers={tracker}, points=15)


def test_tensorboard_in_a_folder_that_the_command_names(go: Go, tmp_path: Path) -> None:
    needs("torch", "tensorboard")
    result = go(sys.executable, "trackers.py", "tensorboard", str(tmp_path / "elsewhere"))
    assert_equal(result, "loss", "nested/acc", "odd", trackers={"tensorboard"}, points=15)


def test_event_files_as_tensorboard_reads_them(tmp_path: Path) -> None:
    """Old and new summaries, and Keras's tensors, against tensorboard's own reader."""
    needs("torch", "tensorboard")
    code = """
import sys
from torch.utils.tensorboard import SummaryWriter
writer = SummaryWriter(sys.argv[1])
for step in range(5):
    writer.add_scalar("old", 1 / (step + 1), step)
    writer.add_scalar("new", step / 3, step * 2, new_style=True)
    writer.add_scalar("precise", step / 7, step, new_style=True, double_precision=True)
writer.close()
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util import tensor_util

    from instrument.verify.records.tensorboard import READER

    [run] = READER.read([path for path in tmp_path.iterdir() if READER.owns(path)])
    theirs: dict[str, list[tuple[int, float]]] = {}
    for path in tmp_path.iterdir():
        for event in EventFileLoader(str(path)).Load():
            for value in event.summary.value:
                number = float(tensor_util.make_ndarray(value.tensor))
                theirs.setdefault(value.tag, []).append((event.step, number))
    assert theirs and {key: [p[:2] for p in points] for key, points in run.points.items()} == theirs
