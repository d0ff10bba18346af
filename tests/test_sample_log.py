"""Each sample of a rollout (Miles, slime): the argument where jobs are started, and the measurements with the backend.

`tests/samples/before` is laid over a fork of Miles; `after` holds the files that change. `BLESS=1` writes it anew. The
scripts are run before and after, with a trainer that prints what it was given.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from instrument.patch.proofs import prove
from instrument.plan.context import Options
from instrument.plan.model import Plan
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository
from tests.miles import SHAPES, copied, files, planned

ROOT = Path(__file__).with_name("samples")
FLAG, PATH = "--custom-rollout-log-function-path", "probe.connectors.miles.per_sample_rollout_log"
METRICS = (("agent/turns", "metadata.turns"), ("agent/tools", "metadata.tools.called"))
TRAINER = "import json, sys\nprint(json.dumps(sys.argv[1:]))\n"


@pytest.fixture
def fork(tmp_path: Path) -> Path:
    folder = copied(SHAPES / "fork_tracking" / "before", tmp_path / "repo")
    copied(ROOT / "before", folder)
    return folder


def written(folder: Path, texts: dict[str, str]) -> None:
    for path, text in texts.items():
        (folder / path).write_text(text)


def test_launches_name_the_function(fork: Path) -> None:
    plan, texts = planned(fork, per_sample=True)
    made = {
        path: text for path, text in texts.items() if not path.startswith("miles/") and "probe_tracking" not in path
    }
    if os.environ.get("BLESS"):
        shutil.rmtree(ROOT / "after", ignore_errors=True)
        for path, text in made.items():
            (ROOT / "after" / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / "after" / path).write_text(text)
    assert made == files(ROOT / "after")
    said = [(n.code, n.path) for n in plan.notes if n.code.startswith("per-sample")]
    assert said == [("per-sample-compose", "scripts/installed.sh"), ("per-sample-needs-sdk", None)]
    repo = Repository(fork)

    def again(repo: Repository) -> Plan:
        return make_plan(repo, Options(per_sample=True))

    prove(repo, again(repo), again)


def test_nothing_unless_asked_for(fork: Path) -> None:
    plan, texts = planned(fork)
    assert FLAG not in "".join(texts.values())
    assert [n.level for n in plan.notes if n.code == "per-sample"] == ["info"]


def test_scripts_pass_on_one_argument_more(fork: Path) -> None:
    """And nothing else changes in what the trainer is given."""
    texts = planned(fork, per_sample=True)[1]
    (fork / "train.py").write_text(TRAINER)
    tools = fork.parent / "bin"
    tools.mkdir()
    (tools / "ray").write_text('#!/bin/bash\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    (tools / "python3").symlink_to(sys.executable)
    (tools / "ray").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}

    def given() -> dict[str, list[list[str]]]:
        found = {}
        for path in sorted([*fork.glob("scripts/*.sh"), *fork.glob("scripts/*.py")]):
            if path.name == "openrlhf.sh":
                continue
            program = "bash" if path.suffix == ".sh" else sys.executable
            if program == "bash":
                assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0
            done = subprocess.run(
                [program, str(path)], cwd=fork, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            found[path.name] = [json.loads(line) for line in done.stdout.splitlines()]
        return found

    before = given()
    written(fork, {path: text for path, text in texts.items() if path.startswith("scripts/")})
    after = given()
    for name, calls in after.items():
        kept = name in ("own.sh", "installed.sh", "already.sh")
        for call, was in zip(calls, before[name], strict=True):
            call = [word for text in call for word in (text.split("=") if text.startswith(FLAG) else [text])]
            assert call.count(FLAG) == 1
            at = call.index(FLAG)
            if not kept:
                assert call[at + 1] == PATH
                call = call[:at] + call[at + 2 :]
            assert call == was
    assert sum(map(len, after.values())) == 10


def test_a_function_of_theirs_is_called_as_before(fork: Path) -> None:
    """With the samples queued by the real SDK, without the SDK, and with Probe off."""
    pytest.importorskip("probe.integrations.miles", reason="probe-research is not installed")
    written(fork, planned(fork, per_sample=True)[1])
    code = (
        "import argparse, sys\n"
        "if sys.argv[2] == 'missing': sys.modules['probe'] = None\n"
        "from recipes.logs import log_rollout\n"
        "args = argparse.Namespace(probe_queue_dir=sys.argv[1], probe_external_id='x', use_probe=True,\n"
        "    probe_sample_metrics={'agent/turns': 'metadata.turns'})\n"
        "sample = argparse.Namespace(index=7, group_index=1, reward=0.5, response_length=12, metadata={'turns': 3})\n"
        "assert log_rollout(4, args, [sample], {}, 1.0) is True\n"
    )
    for case, mode, queued in (("there", "", 1), ("missing", "", 0), ("there", "disabled", 0)):
        queue = fork.parent / f"queue-{case}-{mode}"
        done = subprocess.run(
            [sys.executable, "-c", code, str(queue), case], cwd=fork, capture_output=True, text=True, check=False,
            env={**os.environ, "PROBE_MODE": mode},
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, "logged 4 1\n"), done.stderr
        rows = [json.loads(path.read_text()) for path in queue.rglob("*.json") if "metrics" in path.read_text()]
        rows = [row for row in rows if isinstance(row.get("metrics"), dict)]
        assert len(rows) == queued
        for row in rows:
            assert row["metrics"] == {"rollout/reward": 0.5, "rollout/response_length": 12.0, "agent/turns": 3.0}
            assert row["step"] == 4


@pytest.mark.parametrize("form", ["fork_tracking", "fork_base", "fork_functions", "launcher", "slime"])
def test_measurements_stand_with_the_backend(form: str, tmp_path: Path) -> None:
    source = SHAPES.parent / "slime" / "fork" if form == "slime" else SHAPES / form
    folder = copied(source / "before", tmp_path)
    (folder / "run.sh").write_text("python train.py --rollout-batch-size 32\n")
    texts = planned(folder, sample_metrics=METRICS)[1]
    wanted = 'sample_metrics={"agent/turns": "metadata.turns", "agent/tools": "metadata.tools.called"}'
    assert sum(text.count(wanted) for text in texts.values()) == (2 if form == "launcher" else 1)
    assert FLAG in texts["run.sh"]
    written(folder, texts)
    assert planned(folder, sample_metrics=METRICS)[1] == {}


def test_measurements_that_come_later_are_asked_for(tmp_path: Path) -> None:
    folder = copied(SHAPES / "fork_tracking" / "before", tmp_path)
    written(folder, planned(folder)[1])
    plan = planned(folder, sample_metrics=METRICS)[0]
    assert "sample-metrics-by-hand" in [note.code for note in plan.notes]
    assert plan.edits == []


def test_a_large_schema_gets_its_budget(tmp_path: Path) -> None:
    folder = copied(SHAPES / "fork_tracking" / "before", tmp_path)
    for count, budget in ((1_022, ""), (1_023, "sample_metric_budget=1025)")):
        metrics = tuple((f"m/{i}", f"metadata.m{i}") for i in range(count))
        text = planned(folder, sample_metrics=metrics)[1]["miles/utils/tracking_utils/tracking.py"]
        assert (budget in text) if budget else ("budget" not in text)


def test_without_a_backend_the_plan_asks(tmp_path: Path) -> None:
    folder = copied(SHAPES.parent / "slime" / "launcher" / "before", tmp_path)
    (folder / "run.sh").write_text("python run.py --rollout-batch-size 32\n")
    plan, texts = planned(folder, per_sample=True)
    assert "run.sh" not in texts
    assert "per-sample-no-backend" in [note.code for note in plan.notes]


def test_command_line_and_settings(tmp_path: Path) -> None:
    from instrument.commands._common import Ask
    from instrument.errors import InstrumentError

    (tmp_path / "pyproject.toml").write_text('[tool.instrument.sample-metrics]\n"agent/turns" = "metadata.turns"\n')
    assert Ask(path=tmp_path).options.sample_metrics == (("agent/turns", "metadata.turns"),)
    assert Ask(path=tmp_path).options.per_sample
    assert Ask(path=tmp_path, sample_metrics=["a=b.c", "a=d"]).options.sample_metrics == (("a", "d"),)
    for wrong in ("a", "=b", "a=", "a=b..c"):
        with pytest.raises(InstrumentError, match="no measurement"):
            _ = Ask(path=tmp_path, sample_metrics=[wrong]).options
    (tmp_path / "pyproject.toml").write_text("[tool.instrument]\nsample-metrics = 3\n")
    with pytest.raises(InstrumentError, match="must be a table"):
        _ = Ask(path=tmp_path).options
    (tmp_path / "pyproject.toml").write_text("[tool.instrument]\n")
    assert not Ask(path=tmp_path).options.per_sample
