"""Launch lines of RL trainers that are only installed: each is said, and verl's plugin door works as it is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from instrument.plan.model import Plan
from instrument.plan.planner import make_plan
from instrument.plan.render import render_module
from instrument.repo.scan import Repository
from tests.miles import run

LINES = {
    "python3 -m verl.trainer.main_ppo trainer.logger=['console','wandb']": "verl",
    "torchrun --nproc_per_node 8 -m verl.trainer.fsdp_sft_trainer a=b": "verl",
    "deepspeed --module openrlhf.cli.train_sft --use_wandb $KEY": "OpenRLHF",
    "ray job submit -- python3 -m openrlhf.cli.train_ppo_ray --use_wandb $KEY": "OpenRLHF",
    "uv run --isolated -m skyrl_train.entrypoints.main_base trainer.logger=wandb": "SkyRL",
    "uv run -m skyrl.train.entrypoints.main_base trainer.logger=wandb": "SkyRL",
    "uv run rl @ configs/rl.toml --wandb.project x": "prime-rl",
    "python -m areal.launcher.ray train.py --config a.yaml": "AReaL",
    "python -m oat.experiment.main --use-wb": "oat",
    "cd /opt/nemo-rl && uv run /opt/nemo-rl/examples/run_grpo_math.py": "NeMo RL",
    "ray job submit -- python3 /root/miles/train.py --use-wandb": "Miles",
    "ray job submit -- python3 /root/slime/train_async.py --use-wandb": "slime",
    "megatron rlhf --rlhf_type grpo": "ms-swift",
    "python open_instruct/grpo_fast.py --with_tracking": "open-instruct",
    "python -m rllm.trainer.verl.train_agent_ppo": "rllm",
}
QUIET = (
    "python -m verl.trainer.main_eval data.path=x",
    "echo python -m verl.trainer.main_ppo",
    "pip install verl openrlhf",
    "python -m mypkg.train",
    "python train.py --rollout-batch-size 8",
)


def planned(folder: Path, line: str, **files: str) -> Plan:
    (folder / "run.sh").write_text(f"#!/bin/bash\nset -e\n{line}\n")
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_txt", ".txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return make_plan(Repository(folder))


@pytest.mark.parametrize("line", LINES)
def test_a_launch_line_says_where_its_rows_can_go(line: str, tmp_path: Path) -> None:
    plan = planned(tmp_path, line)
    sites = [site for site in plan.sites if site.rule == "rl_trainer"]
    assert [site.process for site in sites] == [LINES[line]], plan.sites
    notes = [note for note in plan.notes if note.path == "run.sh" and note.line == 3]
    assert {note.code for note in notes} >= {"plugin-by-hand" if LINES[line] == "verl" else "import-after-run"}
    assert all(note.next for note in notes)


@pytest.mark.parametrize("line", QUIET)
def test_nothing_is_said_of_other_lines(line: str, tmp_path: Path) -> None:
    assert not [site for site in planned(tmp_path, line).sites if site.rule == "rl_trainer"]


def test_an_earlier_verl_has_no_such_door(tmp_path: Path) -> None:
    plan = planned(tmp_path, "python3 -m verl.trainer.main_ppo", requirements_txt="verl==0.4.1\n")
    assert "import-after-run" in {note.code for note in plan.notes}
    assert "plugin-by-hand" not in {note.code for note in plan.notes}


#: verl as far as the door goes: what 0.6 and later do on import, and a Tracking of the same form.
INIT = """
import importlib, os
for name in filter(None, os.getenv("VERL_USE_EXTERNAL_MODULES", "").split(",")):
    importlib.import_module(name)
"""
TRACKING = """
class Tracking:
    supported_backend = ["console"]

    def __init__(self, project_name, experiment_name, default_backend="console", config=None):
        assert default_backend in self.supported_backend
        self.logger = {"console": print}

    def log(self, data, step, backend=None):
        for name, logger in self.logger.items():
            if backend is None or backend == name:
                logger("row", step, data)

    def END(self, exit_code=0):
        print("closed")
"""
TRAIN = """
import sys
import verl
from verl.utils.tracking import Tracking

def main():
    tracking = Tracking("toy", experiment_name="first", config={"lr": 0.1})
    for step in (1, 2, 3):
        tracking.log(data={"actor/loss": 1 / step, "text": "x"}, step=step)
    tracking.log({"mine": 1.0}, 4, backend="console")
    if sys.argv[1:] == ["crash"]:
        raise ValueError("diverged")
    if sys.argv[1:] == ["code"]:
        return tracking.finish(exit_code=1)
    END
    print("trained")

main()
"""
RAISES = "def init(*a, **k): raise ValueError('no')\nlog = finish = active_run = init\n"


def installed(folder: Path, end: str) -> Path:
    """A folder with such a verl and the module that the note tells to write."""
    (folder / "verl" / "utils").mkdir(parents=True)
    (folder / "verl" / "__init__.py").write_text(INIT)
    (folder / "verl" / "utils" / "__init__.py").write_text("")
    (folder / "verl" / "utils" / "tracking.py").write_text(TRACKING.replace("END", end))
    (folder / "probe_tracking.py").write_text(render_module(["verl"]))
    return folder


def train(folder: Path, end: str, *arguments: str, **environment: str) -> tuple[int, str, str]:
    code = TRAIN.replace("END", "tracking.finish()" if end == "finish" else "del tracking")
    done = run(folder, code, *arguments, **environment)
    said = "".join(line for line in done.stdout.splitlines(keepends=True) if not line.startswith("probe: "))  # the SDK
    return done.returncode, said, done.stderr


@pytest.mark.parametrize("end", ["finish", "__del__"])
def test_the_plugin_sends_what_verl_tracks(end: str, tmp_path: Path) -> None:
    pytest.importorskip("probe.sdk.offline", reason="probe-research is not installed")
    folder = installed(tmp_path / "repo", end)
    outbox = tmp_path / "outbox"
    door = {"VERL_USE_EXTERNAL_MODULES": "probe_tracking", "PROBE_MODE": "offline"}
    code, out, err = train(folder, end, PROBE_OUTBOX_DIR=str(outbox), **door)
    assert code == 0, err
    assert (code, out) == train(folder, end)[:2], "verl does what it did"
    points, statuses, names = [], [], []
    for path in sorted(outbox.glob("offline/*/ops/*.json")):
        operation = json.loads(path.read_text())
        body = operation.get("body") or {}
        points += [(p["key"], p["step_index"], p["value"]) for p in body.get("points", [])]
        statuses += [body["status"]] if "status" in body else []
        names += [((operation.get("create") or {}).get("body") or {}).get("name")]
    assert points == [("actor/loss", step, 1 / step) for step in (1, 2, 3)]
    assert statuses == ["completed"]
    assert "first" in names


@pytest.mark.parametrize(("end", "code"), [("crash", 1), ("code", 0)])
def test_a_crash_is_recorded_as_failed(end: str, code: int, tmp_path: Path) -> None:
    """As verl 0.9 tells its tracker, by an exit code, or by the exception."""
    pytest.importorskip("probe.sdk.offline", reason="probe-research is not installed")
    folder, outbox = installed(tmp_path / "repo", "finish"), tmp_path / "outbox"
    door = {"VERL_USE_EXTERNAL_MODULES": "probe_tracking", "PROBE_MODE": "offline"}
    assert train(folder, "finish", end, PROBE_OUTBOX_DIR=str(outbox), **door)[0] == code
    bodies = [json.loads(path.read_text()).get("body") or {} for path in sorted(outbox.glob("offline/*/ops/*.json"))]
    assert [body["status"] for body in bodies if "status" in body] == ["failed"]


@pytest.mark.parametrize("probe", ["raise ImportError('gone')\n", RAISES, "x = 1\n"], ids=["missing", "raises", "odd"])
@pytest.mark.parametrize("end", ["", "crash"])
def test_a_broken_probe_changes_nothing(probe: str, end: str, tmp_path: Path) -> None:
    folder = installed(tmp_path / "repo", "finish")
    before = train(folder, "finish", *filter(None, [end]))
    (folder / "probe.py").write_text(probe)
    after = train(folder, "finish", *filter(None, [end]), VERL_USE_EXTERNAL_MODULES="probe_tracking")
    assert before[:2] == after[:2], after[2]
    assert before[0] == (1 if end else 0)


#: The driver, and the actor that tracks, as verl has them: the module comes by the job's runtime environment.
ACTOR = """
import os, sys
import ray

environment = {name: os.environ[name] for name in ("PYTHONPATH", "VERL_USE_EXTERNAL_MODULES", "PROBE_MODE", "PROBE_OUTBOX_DIR")}
ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": environment})

@ray.remote(num_cpus=1)
class TaskRunner:
    def run(self, crash):
        from verl.utils.tracking import Tracking

        tracking, succeeded = Tracking("toy", "first", config={}), False
        try:
            for step in (1, 2, 3):
                tracking.log(data={"actor/loss": 1 / step}, step=step)
            if crash:
                raise ValueError("diverged")
            succeeded = True
        finally:
            tracking.finish(exit_code=0 if succeeded else 1)

try:
    ray.get(TaskRunner.remote().run.remote(sys.argv[1:] == ["crash"]))
finally:
    ray.shutdown()
"""


@pytest.mark.framework
@pytest.mark.parametrize(("end", "code", "status"), [("", 0, "completed"), ("crash", 1, "failed")])
def test_the_plugin_works_in_the_ray_actor(end: str, code: int, status: str, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="install the extra `frameworks`")
    pytest.importorskip("probe.sdk.offline", reason="probe-research is not installed")
    folder, outbox = installed(tmp_path / "repo", "finish"), tmp_path / "outbox"
    door = {"VERL_USE_EXTERNAL_MODULES": "probe_tracking", "PROBE_MODE": "offline", "PROBE_OUTBOX_DIR": str(outbox)}
    done = run(folder, ACTOR, *filter(None, [end]), **door)
    assert done.returncode == code, done.stderr
    bodies = [json.loads(path.read_text()).get("body") or {} for path in sorted(outbox.glob("offline/*/ops/*.json"))]
    points = [(p["key"], p["step_index"], p["value"]) for body in bodies for p in body.get("points", [])]
    assert points == [("actor/loss", step, 1 / step) for step in (1, 2, 3)]
    assert [body["status"] for body in bodies if "status" in body] == [status]
