"""Each fix on a small trainer: the fault is in its record before, and not after. Killed and resumed where there is a counter."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from instrument.audit.record import judge
from instrument.audit.record._recorded import Recorded, read
from tests.audit_lab import DATA, Job, fix, run

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the lab forks")
pytest.importorskip("probe")
pytest.importorskip("wandb")

KILLED = -9
#: Script, and when its first process is killed: amid a rollout, amid an epoch, between the last step of an epoch and its save.
RESUMED = {"rollouts": "2.3", "trainer_class": "12", "module_counter": "10"}
ONCE = ("zeros", "axes", "flat_keys")


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Every trainer, as it is and fixed, run."""
    root = tmp_path
    jobs = []
    for name in (*RESUMED, *ONCE):
        for form in ("before", "after"):
            folder = root / name / form
            folder.mkdir(parents=True)
            shutil.copy(DATA / f"{name}.py", folder)
            if form == "after":
                assert fix(folder).fixed
            if name in RESUMED:
                jobs.append(Job(folder, f"{name}.py", code=KILLED, env={"KILL_AT": RESUMED[name]}))
            jobs.append(Job(folder, f"{name}.py", env={"KILL_AT": ""}))
    for form in ("before", "after"):
        folder = root / "fork" / form
        shutil.copytree(DATA / "fork", folder, ignore=shutil.ignore_patterns("__pycache__"))
        if form == "after":
            done = fix(folder)
            assert not done.left and {finding.code for finding, _ in done.fixed} == {"PI103", "PI105", "PI106"}
        jobs.append(Job(folder, "train.py", code=KILLED, env={"KILL_AT": "2.3"}))
        jobs.append(Job(folder, "train.py", env={"KILL_AT": ""}))
    run(root, jobs)
    return root


def seen(lab: Path, name: str, form: str) -> dict[str, list[str]]:
    """Codes that a record shows, with the keys of each."""
    found: dict[str, list[str]] = {}
    for _, one in judge(lab / name / form / "record").seen:
        found.setdefault(one.code, []).extend(one.keys)
    return found


def only(lab: Path, name: str, form: str) -> Recorded:
    (one,) = read(lab / name / form / "record")
    return one


def steps(run: Recorded, key: str, part: int) -> list[float]:
    return [seat.step for seat in run.seats(key) if seat.part == part and seat.step is not None]


def a_product_of_rollout_and_steps_becomes_a_count(lab: Path) -> None:
    before, after = seen(lab, "rollouts", "before"), seen(lab, "rollouts", "after")
    assert before["PI103"] == ["train/loss", "train/weight"]
    # The four steps after the last checkpoint were made again: nothing else is to be said.
    assert after == {"PI201": ["train/loss", "train/weight"]}
    run = only(lab, "rollouts", "after")
    assert steps(run, "train/loss", 0) == list(range(18)) and steps(run, "train/loss", 1) == list(range(14, 31))
    assert len(steps(only(lab, "rollouts", "before"), "train/loss", 1)) == 17


def a_counter_is_kept_in_the_checkpoint(lab: Path, name: str, first: int, resumed: int) -> None:
    assert "PI104" in seen(lab, name, "before")
    assert steps(only(lab, name, "before"), "train/loss", 1)[0] == 0
    assert set(seen(lab, name, "after")) == {"PI201"}
    run = only(lab, name, "after")
    assert steps(run, "train/loss", 0) == list(range(first))
    assert steps(run, "train/loss", 1) == list(range(resumed, 20))


def a_rate_without_a_denominator_is_left_out(lab: Path) -> None:
    assert seen(lab, "zeros", "before") == {"PI105": ["eval/accuracy", "cache/hit_rate"]}
    assert seen(lab, "zeros", "after") == {}
    before, after = only(lab, "zeros", "before"), only(lab, "zeros", "after")
    measured = [(seat.step, seat.value) for seat in before.seats("cache/hit_rate") if seat.value]
    assert [(seat.step, seat.value) for seat in after.seats("cache/hit_rate")] == measured
    assert "eval/accuracy" not in after.keys
    loss = [[(seat.step, seat.value) for seat in run.seats("train/loss")] for run in (before, after)]
    assert loss[0] == loss[1]


def an_axis_is_declared_and_its_counter_is_in_the_row(lab: Path) -> None:
    before = seen(lab, "axes", "before")
    assert before == {"PI101": ["eval/loss"], "PI102": ["train/grad_norm"]}
    assert seen(lab, "axes", "after") == {}
    run = only(lab, "axes", "after")
    assert run.axis("eval/loss") == "eval/step" and steps(run, "eval/loss", 0) == [0, 40, 80]
    assert steps(run, "train/grad_norm", 0) == [n * 10 for n in range(12)]


def sections_come_from_one_map(lab: Path) -> None:
    assert seen(lab, "flat_keys", "before") == {"PI106": ["loss", "lr", "val_loss"]}
    assert seen(lab, "flat_keys", "after") == {}
    before, after = only(lab, "flat_keys", "before"), only(lab, "flat_keys", "after")
    assert sorted(after.keys) == ["eval/val_loss", "rollout/length", "rollout/reward", "train/loss", "train/lr"]
    assert [s.value for s in after.seats("train/loss")] == [s.value for s in before.seats("loss")]


def a_fork_of_miles_as_a_whole(lab: Path) -> None:
    before, after = seen(lab, "fork", "before"), seen(lab, "fork", "after")
    assert before["PI103"] == ["train/loss"] and before["PI106"] == ["buffer"]
    # Two axes in one run of Probe stay, and so does what its floor drops after a resume: told, and left to a person.
    assert "PI103" not in after and "PI106" not in after and "PI104" not in after
    run = only(lab, "fork", "after")
    # Rollouts of 10, 4, 6, 8 and 3 steps; killed at the fourth of the third, resumed from its beginning.
    assert steps(run, "train/loss", 0) == list(range(18))
    assert steps(run, "train/loss", 1) == list(range(14, 31))
    assert "rollout/buffer" in run.keys and "buffer" not in run.keys
    assert [s.value for s in run.seats("rollout/accept_rate")] == [0.75] * 6  # one sample of four says anything
    assert [s.value for s in only(lab, "fork", "before").seats("rollout/accept_rate")] == [0.1875] * 6
    assert {"rollout/math/reward", "rollout/code/reward"} <= set(run.keys)
    assert [s.value for s in run.seats("rollout/length")] == [15.0] * 5


def test_each_fix_on_its_trainer(lab: Path) -> None:
    # One test, since the runs are what costs: workers that share the tests out would each make them all.
    a_product_of_rollout_and_steps_becomes_a_count(lab)
    a_counter_is_kept_in_the_checkpoint(lab, "trainer_class", 12, 10)
    a_counter_is_kept_in_the_checkpoint(lab, "module_counter", 10, 5)
    a_rate_without_a_denominator_is_left_out(lab)
    an_axis_is_declared_and_its_counter_is_in_the_row(lab)
    sections_come_from_one_map(lab)
    a_fork_of_miles_as_a_whole(lab)
