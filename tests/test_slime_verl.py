"""slime and verl: their own trackers edited where the source is here, else Probe's calls beside those to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.miles import SHAPES, Queue, applied, copied, files, planned, run

ROOT = SHAPES.parent
CASES = sorted(f"{shape}/{p.name}" for shape in ("slime", "verl") for p in (ROOT / shape).iterdir())


@pytest.mark.parametrize("case", CASES)
def test_before_and_after(case: str, tmp_path: Path) -> None:
    root = copied(ROOT / case / "before", tmp_path)
    texts = planned(root)[1]
    ours = {path: text for path, text in texts.items() if path.endswith("probe_tracking.py")}
    assert {path: text for path, text in texts.items() if path not in ours} == files(ROOT / case / "after")
    assert len(ours) == 1
    for path, text in texts.items():
        (root / path).write_text(text)
    assert planned(root)[1] == {}


def test_verl_elsewhere_in_the_fork_is_covered(tmp_path: Path) -> None:
    plan, texts = planned(copied(ROOT / "verl" / "fork" / "before", tmp_path))
    assert {(s.path, s.outcome) for s in plan.sites} == {("main.py", "covered"), ("verl/utils/tracking.py", "covered")}
    assert "main.py" not in texts


def test_the_verl_fork_sends_its_rows(tmp_path: Path) -> None:
    """At their own steps, but not what was meant for one backend alone; a crash is recorded as such."""
    pytest.importorskip("probe.sdk.offline", reason="probe-research is not installed")
    folder = applied(copied(ROOT / "verl" / "fork" / "before", tmp_path / "repo"))
    for end, code, status in (("", 0, "completed"), ("crash", 1, "failed")):
        outbox = tmp_path / (end or "ended")
        done = run(folder, (folder / "main.py").read_text(), end, PROBE_MODE="offline", PROBE_OUTBOX_DIR=str(outbox))
        assert done.returncode == code, done.stderr
        points, statuses, name = [], [], None
        for path in sorted(outbox.glob("offline/*/ops/*.json")):
            operation = json.loads(path.read_text())
            body = operation.get("body") or {}
            points += [(p["key"], p["step_index"], p["value"]) for p in body.get("points", [])]
            statuses += [body["status"]] if "status" in body else []
            name = (operation.get("create") or {}).get("body", {}).get("name") or name
        assert points == [("actor/loss", step, 1 / step) for step in (1, 2, 3)]
        assert statuses == [status]
        assert name == "first"


def test_the_slime_fork_queues_its_rows(tmp_path: Path) -> None:
    """Also where W&B is off, and both functions return before their end."""
    pytest.importorskip("probe.integrations.miles", reason="probe-research is not installed")
    folder = applied(copied(ROOT / "slime" / "fork" / "before", tmp_path / "repo"))
    code = (
        "import argparse, sys, train\n"
        "train.train(argparse.Namespace(save=sys.argv[1], use_wandb=False, wandb_group=None))\n"
    )
    done = run(folder, code, str(tmp_path / "save"), PROBE_MODE="offline")
    assert done.returncode == 0, done.stderr
    queue = Queue.read(tmp_path / "save")
    assert queue.points == [("train/loss", i, 1.0 - i) for i in range(3)]
    assert queue.status == "completed"
