"""`instrument verify` on small trainers that are instrumented by hand, whole and broken in each way it must name."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from instrument.verify.report import as_json, summary
from instrument.verify.run import Request
from instrument.verify.session import Verification, verify

pytest.importorskip("wandb")
pytest.importorskip("probe")
pytestmark = pytest.mark.slow

TRAINER = """
import math
import wandb
import probe

def main():
    wandb.init(project="toy", config={"lr": 0.1})
    probe.init(name=wandb.run.name, config=dict(wandb.config))
    for step in range(6):
        loss = 1 / (step + 1)
        wandb.log({"loss": loss, "odd": math.nan if step == 2 else math.inf, "nest": {"acc": step / 8}}, step=step*10)
        probe.log({"loss": loss, "odd": math.nan if step == 2 else math.inf, "nest": {"acc": step / 8}}, step=step*10)
        wandb.log({"val/loss": loss * 2}, step=step * 10)
        probe.log({"val/loss": loss * 2}, step=step * 10)
    probe.finish()
    wandb.finish()

if __name__ == "__main__":
    main()
"""

Verify = Callable[..., Verification]


@pytest.fixture
def verified(tmp_path: Path) -> Verify:
    """Run a trainer's text through verify, with replacements made in it first."""

    def go(text: str, *changes: tuple[str, str], launcher: tuple[str, ...] = (), **options: object) -> Verification:
        text = textwrap.dedent(text).lstrip()
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        folder = tmp_path / "trainer"
        folder.mkdir(exist_ok=True)
        (folder / "train.py").write_text(text)
        command = [*(launcher or (sys.executable,)), "train.py"]
        request = Request(command=command, cwd=folder, folder=tmp_path / "records", **options)  # type: ignore[arg-type]
        (tmp_path / "records").mkdir(exist_ok=True)
        return verify(request, folder)

    return go


def verdicts(verification: Verification) -> dict[str, str]:
    [run] = verification.comparison.runs
    return {key.key: key.verdict for key in run.keys}


def test_equal(verified: Verify) -> None:
    result = verified(TRAINER)
    assert verdicts(result) == {"loss": "equal", "odd": "equal", "nest.acc": "equal", "val/loss": "equal"}
    assert result.passed and result.outcome.exit_code == 0
    assert summary(result) == "equal: 24 points of 4 keys in 1 run(s) are the same at Probe"
    assert not result.outcome.stray and not result.notes


def test_a_removed_call_is_missing_and_its_line_is_named(verified: Verify) -> None:
    result = verified(TRAINER, ('        probe.log({"val/loss": loss * 2}, step=step * 10)\n', ""))
    assert verdicts(result)["val/loss"] == "missing at Probe" and verdicts(result)["loss"] == "equal"
    [key] = [key for key in result.comparison.runs[0].keys if key.key == "val/loss"]
    assert key.place == "train.py:12"
    assert not result.passed


def test_some_points_missing(verified: Verify) -> None:
    result = verified(TRAINER, ('        probe.log({"val/loss"', '        if step < 3: probe.log({"val/loss"'))
    [key] = [key for key in result.comparison.runs[0].keys if key.key == "val/loss"]
    assert (key.verdict, key.detail) == ("missing at Probe", "3 of 6 points are missing")
    assert key.first is not None and (key.first.step, key.first.probe) == (30, None)


def test_a_shifted_step_is_another_axis(verified: Verify) -> None:
    result = verified(
        TRAINER,
        (
            '        probe.log({"val/loss": loss * 2}, step=step * 10',
            '        probe.log({"val/loss": loss * 2}, step=step * 10 + 1',
        ),
    )
    [key] = [key for key in result.comparison.runs[0].keys if key.key == "val/loss"]
    assert (key.verdict, key.detail) == ("different step axis", "Probe's steps are +1 of the tracker's")


def test_a_step_left_out_is_another_axis(verified: Verify) -> None:
    result = verified(
        TRAINER,
        ('        probe.log({"val/loss": loss * 2}, step=step * 10)', '        probe.log({"val/loss": loss * 2})'),
    )
    assert verdicts(result)["val/loss"] == "different step axis"


def test_a_changed_value(verified: Verify) -> None:
    result = verified(
        TRAINER,
        ('        probe.log({"val/loss": loss * 2}', '        probe.log({"val/loss": loss * 2 + (step == 3) * 1e-12}'),
    )
    [key] = [key for key in result.comparison.runs[0].keys if key.key == "val/loss"]
    assert key.verdict == "different values" and key.first is not None
    assert key.first.step == 30 and key.first.tracker == 0.5 and key.first.probe == 0.5 + 1e-12


def test_a_nan_against_a_number(verified: Verify) -> None:
    result = verified(
        TRAINER, ('        probe.log({"loss": loss, "odd": math.nan', '        probe.log({"loss": loss, "odd": 0.0')
    )
    assert verdicts(result)["odd"] == "different values"


def test_a_doubled_call(verified: Verify) -> None:
    line = '        probe.log({"val/loss": loss * 2}, step=step * 10)\n'
    result = verified(TRAINER, (line, line + line))
    assert verdicts(result)["val/loss"] == "twice"
    assert verdicts(result)["loss"] == "equal"


def test_a_doubled_call_without_steps(verified: Verify) -> None:
    line = '        probe.log({"val/loss": loss * 2}, step=step * 10)\n'
    bare = '        probe.log({"val/loss": loss * 2})\n'
    result = verified(TRAINER, (line, bare + bare))
    assert verdicts(result)["val/loss"] == "twice"


def test_nothing_recorded_without_any_call(verified: Verify) -> None:
    result = verified(
        TRAINER.replace("import probe\n", ""), *[(line, "") for line in TRAINER.splitlines(True) if "probe." in line]
    )
    [run] = result.comparison.runs
    assert run.verdict == "nothing recorded" and "run `instrument apply`" in run.cause and "main" in run.cause


def test_nothing_recorded_when_a_guard_is_off(verified: Verify) -> None:
    lines = [(line, line.replace("probe.", "if 0: probe.")) for line in TRAINER.splitlines(True) if "probe." in line]
    [run] = verified(TRAINER, *lines).comparison.runs
    assert run.verdict == "nothing recorded" and "not reached" in run.cause


def test_a_run_that_was_opened_but_got_nothing(verified: Verify) -> None:
    lines = [
        (line, line.replace("probe.log", "if 0: probe.log")) for line in TRAINER.splitlines(True) if "probe.log" in line
    ]
    [run] = verified(TRAINER, *lines).comparison.runs
    assert run.verdict == "nothing recorded" and "nothing was logged to it" in run.cause


RANKS = """
import multiprocessing, os
import wandb
import probe

def work(rank):
    wandb.init(project="toy", name=f"rank {rank}")
    if rank in OPENED:
        probe.init(name=wandb.run.name)
    for step in range(3):
        wandb.log({"loss": rank + step / 8}, step=step)
        if probe.active_run() is not None:
            probe.log({"loss": rank + step / 8}, step=step)
    wandb.finish()
    if probe.active_run() is not None:
        probe.finish()

OPENED = (0, 1)

if __name__ == "__main__":
    workers = [multiprocessing.get_context("spawn").Process(target=work, args=(rank,)) for rank in range(2)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
"""


def test_spawned_children_are_read(verified: Verify) -> None:
    result = verified(RANKS)
    assert [run.verdict for run in result.comparison.runs] == ["equal", "equal"]
    assert {run.tracker.process.role for run in result.comparison.runs} == {"spawned child"}


def test_a_process_left_out(verified: Verify) -> None:
    result = verified(RANKS, ("OPENED = (0, 1)", "OPENED = (0,)"))
    found = {run.tracker.name: run for run in result.comparison.runs}
    assert found["rank 0"].verdict == "equal" and found["rank 1"].verdict == "nothing recorded"
    assert "Probe recorded in spawned child" in found["rank 1"].cause
    assert str(found["rank 1"].tracker.process.pid) in found["rank 1"].cause


def test_two_processes_that_record_the_same(verified: Verify) -> None:
    text = RANKS.replace(
        '    wandb.init(project="toy", name=f"rank {rank}")\n',
        '    if rank == 0: wandb.init(project="toy", name="rank 0")\n',
    )
    text = text.replace("        wandb.log({", "        if rank == 0: wandb.log({").replace(
        "    wandb.finish()", "    if rank == 0: wandb.finish()"
    )
    text = text.replace("name=wandb.run.name", "name='any'").replace("rank + step / 8", "step / 8")
    [run] = verified(text).comparison.runs
    assert run.verdict == "twice" and "1 more Probe run(s)" in run.cause


def test_define_metric_names_the_axis(verified: Verify) -> None:
    text = TRAINER.replace("    probe.init(", '    wandb.define_metric("val/*", step_metric="epoch")\n    probe.init(')
    text = text.replace(
        'wandb.log({"val/loss": loss * 2}, step=step * 10)',
        'wandb.log({"val/loss": loss * 2, "epoch": step}, step=step * 10)',
    )
    result = verified(text)
    [key] = [key for key in result.comparison.runs[0].keys if key.key == "val/loss"]
    assert (key.verdict, key.detail) == (
        "different step axis",
        "Probe's steps are _step, the tracker plots against epoch",
    )
    result = verified(
        text, ('probe.log({"val/loss": loss * 2}, step=step * 10)', 'probe.log({"val/loss": loss * 2}, step=step)')
    )
    assert result.passed


def test_credentials_do_not_reach_the_trainer(verified: Verify, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PROBE_TOKEN", "WANDB_API_KEY", "HF_TOKEN", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x" * 40)
    monkeypatch.setenv("KEPT", "1")
    text = """
    import os, sys
    left = {"PROBE_TOKEN", "WANDB_API_KEY", "HF_TOKEN", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"} & {*os.environ}
    sys.exit(len(left) + (os.environ["KEPT"] != "1") + (os.environ["PROBE_MODE"] != "offline"))
    """
    assert verified(text, env=dict(os.environ)).outcome.exit_code == 0
    assert verified(text, env=dict(os.environ), keep=("HF_TOKEN",)).outcome.exit_code == 1


def test_json_is_strict_and_complete(verified: Verify) -> None:
    import json

    result = verified(
        TRAINER, ('        probe.log({"loss": loss, "odd": math.nan', '        probe.log({"loss": loss, "odd": 0.0')
    )
    data = json.loads(json.dumps(as_json(result), allow_nan=False))
    assert data["schema"] == "instrument.verify/1" and data["verdict"] == "different values" and data["passed"] is False
    [odd] = [key for key in data["runs"][0]["keys"] if key["key"] == "odd"]
    assert odd["first_difference"] == {"step": 20, "tracker": "nan", "probe": 0.0}
    assert odd["place"] == "train.py:10"
