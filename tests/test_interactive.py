"""`apply --interactive` on a terminal of its own: what is answered is what is written, with all that it needs."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import cases

ROOT = Path(__file__).resolve().parent.parent
_ASKS = "Make this edit? [y,n,a,d,q,?]"


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "corpus" / "demo", tmp_path / "demo"))


def answered(folder: Path, answers: str, *options: str) -> tuple[int, str]:
    """The exit code and what was shown, with one answer typed at each question; "^" ends the input there."""
    master, slave = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb", "COLUMNS": "200", "PAGER": "cat", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "instrument", "apply", str(folder), "--interactive", *options]
    done = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=env, cwd=folder, close_fds=True)
    os.close(slave)
    shown, asked, deadline = "", 0, time.monotonic() + 120
    while time.monotonic() < deadline:
        if select.select([master], [], [], 0.2)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data.decode("utf-8", "replace")
        elif done.poll() is not None:
            break
        while shown.count(_ASKS) > asked and asked < len(answers):
            os.write(master, b"\x04" if answers[asked] == "^" else answers[asked].encode() + b"\n")
            asked += 1
    done.wait(timeout=60)
    os.close(master)
    return done.returncode, shown.replace("\r\n", "\n")


def test_all_of_it_is_the_plain_change(demo: Path, tmp_path: Path) -> None:
    whole = Path(shutil.copytree(demo, tmp_path / "whole"))
    assert cases.instrument("apply", str(whole), "--yes")[0] == 0
    code, shown = answered(demo, "a")
    assert code == 0, shown
    assert shown.count(_ASKS) == 1 and "1 of 5" in shown
    for path in ("train.py", "probe_tracking.py", "requirements.txt"):
        assert (demo / path).read_bytes() == (whole / path).read_bytes()


def test_what_is_left_out_stays_as_it_was(demo: Path) -> None:
    before = (demo / "train.py").read_text()
    code, shown = answered(demo, "nyyyy")  # not what evaluate() logs
    assert code == 0, shown
    after = (demo / "train.py").read_text()
    assert "probe.log(metrics, step=step)" in after and "eval/loss" not in after.replace(before, "").split("probe.")[-1]
    assert after.count("probe.log(") == 1 and "import probe_tracking as probe" in after
    # It is asked for again, and nothing else is.
    code, shown = answered(demo, "n")
    assert shown.count(_ASKS) == 1 and "nothing was written" in shown
    assert cases.instrument("undo", str(demo))[0] == 0
    assert (demo / "train.py").read_text() == before


def test_without_its_run_a_tracker_is_left_alone(demo: Path) -> None:
    before = {path.name: path.read_bytes() for path in demo.iterdir() if path.is_file()}
    code, shown = answered(demo, "nn")  # what evaluate() logs, then the run
    assert "left out with it: 2 edits" in shown
    assert "nothing was written" in shown and code == 1
    assert {path.name: path.read_bytes() for path in demo.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("answers", ["q", "yq", "y^"])
def test_stopping_writes_nothing(demo: Path, answers: str) -> None:
    before = {path.name: path.read_bytes() for path in demo.iterdir() if path.is_file()}
    code, shown = answered(demo, answers)
    assert code == 1 and "nothing was written" in shown
    assert {path.name: path.read_bytes() for path in demo.iterdir() if path.is_file()} == before


def test_help_and_the_rest_left_out(demo: Path) -> None:
    code, shown = answered(demo, "?yyd")
    assert "a  make this one and all that follow" in shown and code == 0
    assert "probe.init" in (demo / "train.py").read_text()
    assert "probe.log(metrics" not in (demo / "train.py").read_text()
    assert "probe-research" not in (demo / "requirements.txt").read_text()


def test_without_a_terminal_it_says_what_helps(demo: Path) -> None:
    code, report = cases.instrument("apply", str(demo), "--interactive")
    assert code == 2 and "--interactive needs a terminal" in report and "--only" in report
    code, report = cases.instrument("apply", str(demo), "--interactive", "--yes")
    assert code == 2 and "neither --yes nor --json" in report
