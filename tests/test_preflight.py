"""`--preflight`: with PROBE_TRACKING_PREFLIGHT=1 a process that would record nothing ends at once and says why."""

from __future__ import annotations

import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

from instrument.plan import render
from tests.miles import applied, planned
from tests.module_lab import read_outbox

WANDB = """
from types import SimpleNamespace

run, config = SimpleNamespace(name="n", id="i"), {}
init = lambda **k: run
log = lambda *a, **k: None
"""
TRAIN = """
import wandb

wandb.init(project="toy")
for step in range(3):
    wandb.log({"loss": 1.0}, step=step)
print("trained")
"""
#: The run is opened in the parent, and logged to in a child, which has none.
WORKER = """
import multiprocessing
import sys

import wandb


def work():
    wandb.log({"loss": 1.0}, step=0)
    print("worked", flush=True)


if __name__ == "__main__":
    wandb.init(project="toy")
    child = multiprocessing.get_context("spawn").Process(target=work)
    child.start()
    child.join()
    sys.exit(child.exitcode)
"""


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    given = {"PATH": os.environ["PATH"], "HOME": str(folder), "PROBE_OUTBOX_DIR": str(folder / "outbox"), **environment}
    command = [sys.executable, "train.py"]
    return subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, timeout=240, check=False)


def instrumented(folder: Path, text: str, **options: bool) -> Path:
    (folder / "train.py").write_text(text)
    applied(folder, **options)
    (folder / "wandb.py").write_text(WANDB)
    return folder


def test_it_is_off_unless_asked_for(tmp_path: Path) -> None:
    instrumented(tmp_path, TRAIN)
    assert "preflight" not in (tmp_path / "probe_tracking.py").read_text().lower()
    done = run(tmp_path, PROBE_TRACKING_PREFLIGHT="1")
    assert done.returncode == 0 and "trained" in done.stdout, done.stderr


def test_a_process_without_a_token_ends(tmp_path: Path) -> None:
    instrumented(tmp_path, TRAIN, preflight=True)
    (tmp_path / "wandb.py").unlink()
    assert planned(tmp_path, preflight=True)[1] == {} and planned(tmp_path)[1] == {}
    (tmp_path / "wandb.py").write_text(WANDB)
    done = run(tmp_path, PROBE_TRACKING_PREFLIGHT="1")
    assert done.returncode == 1 and "trained" not in done.stdout
    assert "RuntimeError: preflight: Probe is off in process" in done.stderr and "train.py" in done.stderr
    # Written, and not turned on: as without it.
    done = run(tmp_path)
    assert done.returncode == 0 and "trained" in done.stdout, done.stderr


def test_a_process_that_records_goes_on(tmp_path: Path) -> None:
    instrumented(tmp_path, TRAIN, preflight=True)
    done = run(tmp_path, PROBE_TRACKING_PREFLIGHT="1", PROBE_MODE="offline")
    assert done.returncode == 0 and "trained" in done.stdout, done.stderr
    (recorded,) = read_outbox(tmp_path / "outbox")
    assert len(recorded.points) == 3


def test_a_child_that_was_never_configured_ends(tmp_path: Path) -> None:
    instrumented(tmp_path, WORKER, preflight=True)
    done = run(tmp_path, PROBE_TRACKING_PREFLIGHT="1", PROBE_MODE="offline")
    assert done.returncode == 1 and "worked" not in done.stdout
    assert "preflight: Probe did not get a row" in done.stderr and "no run is open in this process" in done.stderr
    done = run(tmp_path, PROBE_MODE="offline")
    assert done.returncode == 0 and "worked" in done.stdout, done.stderr


@pytest.mark.parametrize(("opened", "on", "rank", "ends"), [
    (None, "1", "0", True), ("run", "1", "0", False), (None, "0", "0", False), (None, "1", "1", False),
])  # fmt: skip
def test_a_callback_whose_run_is_not_open(
    opened: str | None, on: str, rank: str, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a framework registers is looked at when the framework calls it."""
    module = types.ModuleType("probe_tracking")
    exec(render.render_module(["huggingface", "preflight"]), module.__dict__)
    probe = types.ModuleType("probe")
    monkeypatch.setattr(probe, "active_run", lambda: opened, raising=False)
    monkeypatch.setitem(sys.modules, "probe", probe)
    monkeypatch.setenv("PROBE_TRACKING_PREFLIGHT", on)
    monkeypatch.setenv("RANK", rank)

    class ProbeCallback:
        called = 0

        def on_train_begin(self, args: object, state: object, control: object, **_: object) -> None:
            self.called += 1

    checked = module._checked(ProbeCallback, "on_train_begin")()
    state = types.SimpleNamespace(is_world_process_zero=rank == "0")
    if ends:
        with pytest.raises(RuntimeError, match=r"no run is open after ProbeCallback\.on_train_begin"):
            checked.on_train_begin(None, state, None)
    else:
        checked.on_train_begin(None, state, None)
    assert checked.called == 1
