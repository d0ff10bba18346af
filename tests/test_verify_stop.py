"""However a trainer ends, no process of it is left and what it recorded until then is reported."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from instrument.verify.run import Outcome, Request, run
from instrument.verify.session import verify

pytest.importorskip("wandb")
pytest.importorskip("probe")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent

LONG = """
import os, sys, time
import wandb, probe
wandb.init(project="toy")
probe.init(name="long")
for step in range(100_000):
    wandb.log({"loss": 1 / (step + 1)}, step=step)
    probe.log({"loss": 1 / (step + 1)}, step=step)
    BODY
    time.sleep(0.02)
"""


def running(mark: str) -> list[int]:
    """Processes that were started for a test."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if mark.encode() in Path("/proc", name, "environ").read_bytes():
                    found.append(int(name))
            except OSError:
                continue
    return found


def started(tmp_path: Path, text: str, **options: object) -> Request:
    folder = tmp_path / "trainer"
    folder.mkdir()
    (folder / "train.py").write_text(textwrap.dedent(text).lstrip())
    records = tmp_path / "records"
    records.mkdir()
    env = {**os.environ, "TEST_MARK": str(tmp_path)}
    return Request(
        command=[sys.executable, "train.py"], cwd=folder, folder=records, env=env, **options,  # type: ignore[arg-type]
    )  # fmt: skip


def test_enough_steps(tmp_path: Path) -> None:
    request = started(tmp_path, LONG.replace("BODY", "pass"), steps=20)
    result = verify(request, request.cwd)
    assert result.outcome.stopped == "steps" and not result.outcome.killed
    assert 20 <= result.comparison.runs[0].tracker.steps < 2000
    assert result.comparison.equal and result.passed
    assert result.notes == ["the command was stopped after enough steps; compared is what was recorded until then"]
    assert not running(str(tmp_path))


def test_time_limit(tmp_path: Path) -> None:
    request = started(tmp_path, "import time\nprint('up')\ntime.sleep(600)", timeout=1)
    result = verify(request, request.cwd)
    assert result.outcome.stopped == "timeout" and result.outcome.seconds < 30
    assert not result.passed and "neither Probe nor a tracker recorded anything" in result.notes
    assert not running(str(tmp_path))


def test_one_that_does_not_want_to_end_is_killed(tmp_path: Path) -> None:
    ignore = "import signal\nfor n in (signal.SIGINT, signal.SIGTERM): signal.signal(n, signal.SIG_IGN)\n"
    again = "if step == 0: [signal.signal(n, signal.SIG_IGN) for n in (signal.SIGINT, signal.SIGTERM)]"
    text = ignore + LONG.lstrip().replace("BODY", again)
    request = started(tmp_path, text, steps=5, grace=1, linger=1)
    result = verify(request, request.cwd)
    assert result.outcome.killed and result.outcome.exit_code == 128 + signal.SIGKILL
    assert result.outcome.probe and result.outcome.probe[0].size > 5
    assert any("was killed" in note for note in result.notes)
    assert not running(str(tmp_path))


def test_a_crash(tmp_path: Path) -> None:
    request = started(tmp_path, LONG.replace("BODY", "if step == 10: raise SystemExit(3)"))
    result = verify(request, request.cwd)
    assert result.outcome.exit_code == 3 and result.outcome.failed and result.outcome.stopped is None
    assert result.comparison.equal and not result.passed
    assert result.comparison.runs[0].tracker.size == 11
    assert not running(str(tmp_path))


def test_a_segmentation_fault(tmp_path: Path) -> None:
    text = LONG.replace("BODY", "if step == 10: os.kill(os.getpid(), signal.SIGSEGV)")
    request = started(tmp_path, text.replace("import os", "import signal, os"))
    result = verify(request, request.cwd)
    assert result.outcome.exit_code == 128 + signal.SIGSEGV and result.outcome.probe[0].size == 11
    assert any("never closed" in note for note in result.notes)
    assert not running(str(tmp_path))


def test_a_child_that_outlives_the_command(tmp_path: Path) -> None:
    text = """
    import subprocess, sys
    code = "import os, time; os.setsid(); os.fork() or time.sleep(600); time.sleep(600)"
    subprocess.Popen([sys.executable, "-c", code])
    """
    outcome = run(started(tmp_path, text, linger=1))
    assert outcome.exit_code == 0 and len(outcome.stray) >= 1 and not outcome.killed
    assert not running(str(tmp_path))


def test_a_file_that_can_grow_no_more(tmp_path: Path) -> None:
    """A file size limit, where no small file system can be mounted: W&B's file stops, the report does not."""
    text = LONG.replace("import os", "import resource, signal, os").replace("BODY", "if step == 60: break")
    text = text.replace("probe.init", "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nprobe.init")
    request = started(tmp_path, text)
    limited = (
        "import resource, os, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); "
        "os.execv(sys.executable, [sys.executable, 'train.py'])"
    )
    request = Request(command=[sys.executable, "-c", limited], cwd=request.cwd, folder=request.folder, env=request.env)
    result = verify(request, request.cwd)
    assert result.outcome.probe[0].size > 0
    assert not running(str(tmp_path))


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """A file system of two megabytes, mounted where the records go."""
    place = tmp_path / "records"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    yield place  # type: ignore[misc]
    subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk(tmp_path: Path, small_disk: Path) -> None:
    folder = tmp_path / "trainer"
    folder.mkdir()
    text = LONG.replace("BODY", "if step == 400: break").replace("time.sleep(0.02)", "pass")
    (folder / "train.py").write_text(text.lstrip())
    env = {**os.environ, "TEST_MARK": str(tmp_path)}
    request = Request(command=[sys.executable, "train.py"], cwd=folder, folder=small_disk, env=env, timeout=60)
    result = verify(request, folder)
    assert result.outcome.probe and result.outcome.probe[0].size > 0
    assert any("are free in" in note for note in result.notes)
    assert not running(str(tmp_path))


def cli(tmp_path: Path, *arguments: str) -> subprocess.Popen[bytes]:
    folder = tmp_path / "trainer"
    folder.mkdir()
    (folder / "train.py").write_text(LONG.replace("BODY", "pass").lstrip())
    env = {**os.environ, "TEST_MARK": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable,
        "-m",
        "instrument",
        "verify",
        str(folder),
        "--json",
        *arguments,
        "--",
        sys.executable,
        "train.py",
    ]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path)


def wait_for_points(tmp_path: Path, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if len(list((tmp_path / "records").rglob("ops/*.json"))) > 5:
            return
        time.sleep(0.1)
    raise AssertionError("nothing was recorded")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_the_trainer_and_reports(tmp_path: Path, number: signal.Signals) -> None:
    process = cli(tmp_path, "--records", str(tmp_path / "records"))
    wait_for_points(tmp_path)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    data = json.loads(out)
    assert data["stopped"] == "interrupt" and data["verdict"] == "equal", err.decode()
    assert process.returncode == 0
    assert not running(str(tmp_path))


def test_the_outcome_of_nothing() -> None:
    assert (
        not Outcome(exit_code=0).failed
        and Outcome(exit_code=1).failed
        and not Outcome(exit_code=1, stopped="steps").failed
    )
