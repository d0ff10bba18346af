"""Miles on Ray: an actor that does what Miles' actors do, on Miles' own sources at the commits that are supported.

The sources come from MILES_GIT and LLM360_MILES_GIT (a clone, or the public repositories with INSTRUMENT_NETWORK=1).
Only their tracking modules are imported, on a CPU.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from instrument.plan.render import render_module
from tests.conftest import NETWORK
from tests.miles import LOGGED, SHAPES, Queue, applied, copied, planned, run

ray = pytest.importorskip("ray", reason="ray is not installed")
pytest.importorskip("probe.integrations.miles", reason="probe-research is not installed")
pytestmark = [pytest.mark.framework, pytest.mark.slow]

RADIXARK, LLM360 = "https://github.com/radixark/miles", "https://github.com/LLM360/miles"
SOURCES = {RADIXARK: os.environ.get("MILES_GIT"), LLM360: os.environ.get("LLM360_MILES_GIT")}

#: (repository, commit, the module that has its functions)
COMMITS = {
    "functions only": (LLM360, "3684c6da79f2e44bfedbff8f095d4050424621c0", "miles.utils.tracking_utils"),
    "registry in base.py": (RADIXARK, "507fb3183936421f0756170ad66d39328591b2c3", "miles.utils.tracking_utils"),
    "v0.1.0": (RADIXARK, "78527b9102b3a5f15891128cbec3ac6c2dc4089e", "miles.utils.tracking_utils.tracking"),
    "step key groups": (RADIXARK, "31f1ca961a94cb860cec3b2dea34ec332bfa8f76", "miles.utils.tracking_utils.tracking"),
}

#: `driver` registers by hand in the driver alone; `crash` leaves by an exception.
DRIVER = """
import argparse, importlib, sys
import ray

@ray.remote(num_cpus=0)
class RolloutManager:
    def __init__(self, args, name):
        self.args, self.tracking = args, importlib.import_module(name)
        self.tracking.init_tracking(args, primary=False, router_addr="http://127.0.0.1:1")

    def generate(self):
        for i in range(3):
            self.tracking.log(self.args, {"rollout/reward": i / 10, "rollout/step": i}, step_key="rollout/step")
            self.tracking.log(self.args, {"train/loss": 1.0 - i, "train/step": 10 + i}, step_key="train/step")
        self.tracking.log(self.args, {"eval/acc": 0.5, "eval/step": 2}, step_key="eval/step")
        getattr(self.tracking, "finish_tracking", lambda: None)()
        return getattr(self.args, "use_probe", None)

name, save, how = sys.argv[1:]
args = argparse.Namespace(
    save=save, use_wandb=False, use_tensorboard=False, use_mlflow=False, use_prometheus=False, wandb_group=None,
    ci_enable_metrics_capture=False, use_miles_dashboard=False, wandb_run_id=None,
)
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
tracking = importlib.import_module(name)
if how == "driver":
    import probe_tracking
    probe_tracking.register(args)
tracking.init_tracking(args)
if hasattr(tracking, "define_step_key_metric_group"):
    tracking.define_step_key_metric_group("adapter", "adapter/step")
try:
    print(ray.get(RolloutManager.remote(args, name).generate.remote()))
    if how == "crash":
        raise ValueError("diverged")
finally:
    getattr(tracking, "finish_tracking", lambda: None)()
"""


def checkout(url: str, commit: str, to: Path) -> Path:
    """A commit's files in a git repository of their own."""
    source = SOURCES[url] or (url if NETWORK else None)
    if source is None:
        pytest.skip(f"needs {url}: set MILES_GIT and LLM360_MILES_GIT, or INSTRUMENT_NETWORK=1")
    to.mkdir()
    for command in (["init", "-q"], ["fetch", "-q", "--depth", "1", source, commit], ["checkout", "-q", "FETCH_HEAD"]):
        done = subprocess.run(["git", *command], cwd=to, timeout=600, check=False)
        if done.returncode:
            pytest.skip(f"not run: {url} can't be had here")
    return to


def drive(folder: Path, name: str, save: Path, how: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return run(folder, DRIVER, name, str(save), how, RAY_AUTH_MODE="disabled", **environment)


@pytest.mark.parametrize("form", COMMITS)
def test_each_commit(form: str, tmp_path: Path) -> None:
    """Instrumented as `apply` would, nothing left to plan, and the actor's points are in the queue at their steps."""
    url, commit, name = COMMITS[form]
    folder = applied(checkout(url, commit, tmp_path / "miles"), select=("miles",))
    assert planned(folder, select=("miles",))[1] == {}
    done = drive(folder, name, tmp_path / "save")
    assert done.returncode == 0, done.stderr[-3000:]
    queue = Queue.read(tmp_path / "save")
    assert sorted(queue.points) == LOGGED
    assert queue.status == "completed"
    done = drive(folder, name, tmp_path / "crashed", "crash")
    assert "ValueError: diverged" in done.stderr
    assert Queue.read(tmp_path / "crashed").status == "failed"


@pytest.mark.parametrize("form", ["registry in base.py", "step key groups"])
def test_registered_in_the_driver_alone(form: str, tmp_path: Path) -> None:
    """On the untouched sources: the flag arrives in the actor, its registry has no Probe, and no point is queued."""
    url, commit, name = COMMITS[form]
    folder = checkout(url, commit, tmp_path / "miles")
    (folder / "probe_tracking.py").write_text(render_module(["miles"]))
    done = drive(folder, name, tmp_path / "save", "driver")
    assert done.stdout == "True\n", done.stderr[-3000:]
    queue = Queue.read(tmp_path / "save")
    assert queue.points == []
    assert queue.status == "completed"


@pytest.mark.parametrize("form", COMMITS)
def test_a_launcher_of_each_commit(form: str, tmp_path: Path) -> None:
    """A repository that only imports Miles: the edited driver and actor, on Ray, with Miles' sources beside them."""
    url, commit, name = COMMITS[form]
    miles = checkout(url, commit, tmp_path / "miles")
    folder = tmp_path / "launcher"
    folder.mkdir()
    by_hand = 'if how == "driver":\n    import probe_tracking\n    probe_tracking.register(args)\n'
    text = DRIVER.replace(by_hand, "").replace("tracking = importlib.import_module(name)\n", "")
    text = text.replace("self.args, self.tracking = args, importlib.import_module(name)", "self.args = args")
    text = f"import {name} as tracking\n" + text.replace("self.tracking", "tracking")
    (folder / "driver.py").write_text(text)
    texts = planned(folder)[1]
    assert texts["driver.py"].count("probe.register(args)") == 2
    (folder / "probe_tracking.py").write_text(texts["probe_tracking.py"])
    done = run(
        folder, texts["driver.py"], name, str(tmp_path / "save"), "", PYTHONPATH=str(miles), RAY_AUTH_MODE="disabled"
    )
    assert done.returncode == 0, done.stderr[-3000:]
    queue = Queue.read(tmp_path / "save")
    assert sorted(queue.points) == LOGGED
    assert queue.status == "completed"


@pytest.mark.parametrize("form", ["fork_functions", "fork_base", "fork_tracking"])
def test_the_small_forks(form: str, tmp_path: Path) -> None:
    """The forms of tests/shapes on Ray, where no source of Miles is at hand."""
    folder = applied(copied(SHAPES / form / "before", tmp_path / "repo"))
    name = "miles.utils.tracking_utils.tracking" if form == "fork_tracking" else "miles.utils.tracking_utils"
    done = drive(folder, name, tmp_path / "save")
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted(Queue.read(tmp_path / "save").points) == LOGGED


def test_the_setup_hook_reaches_installed_actors(tmp_path: Path) -> None:
    """What the report asks for where Miles' own actors run installed code works."""
    folder = copied(SHAPES / "fork_tracking" / "before", tmp_path / "repo")
    (folder / "probe_tracking.py").write_text(render_module(["miles"]))
    hook = 'ray.init(runtime_env={"worker_process_setup_hook": "probe_tracking.register"}, '
    code = DRIVER.replace("ray.init(", hook)
    name = "miles.utils.tracking_utils.tracking"
    done = run(folder, code, name, str(tmp_path / "save"), "driver", RAY_AUTH_MODE="disabled")
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted(Queue.read(tmp_path / "save").points) == LOGGED
