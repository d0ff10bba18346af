"""Real Ray: jobs submitted to a cluster that runs on this machine, whose environment has no token.

A local `ray.init()` would not do: it hands the shell's environment on and so hides that a job sees none of it. The
cluster knows where the server is and nothing else; a token arrives only if the launcher hands it over.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.miles import applied, planned
from tests.module_lab import Api

ray = pytest.importorskip("ray", reason="ray is not installed")
pytest.importorskip("aiohttp_cors", reason="ray[default] is not installed: no job server")
pytest.importorskip("probe.sdk", reason="probe-research is not installed")
pytestmark = [pytest.mark.framework, pytest.mark.slow]

TRAIN = """
import ray
import wandb


@ray.remote(num_cpus=0)
class Learner:
    def fit(self, scale):
        run = wandb.init(project="toy", config={"scale": scale})
        for step in range(3):
            run.log({"loss": scale / (step + 1)}, step=step)
        run.finish()
        return "fitted"


ray.init()
print(ray.get(Learner.remote().fit.remote(6)))
"""
POINTS = [("loss", 0, 6.0), ("loss", 1, 3.0), ("loss", 2, 2.0)]

SHELL = """#!/bin/bash
set -eu
ray job submit --address="$CLUSTER" --working-dir . -- python train.py
"""
SHELL_JSON = """#!/bin/bash
set -eu
RUNTIME_ENV_JSON="{
  \\"working_dir\\": \\".\\",
  \\"env_vars\\": {
    \\"WANDB_SILENT\\": \\"true\\",
    \\"WANDB_API_KEY\\": \\"${WANDB_API_KEY:-}\\"
  }
}"
ray job submit --address="$CLUSTER" --runtime-env-json="${RUNTIME_ENV_JSON}" -- python train.py
"""
CLIENT = """
import os
import sys
import time

from ray.job_submission import JobSubmissionClient

client = JobSubmissionClient(os.environ["CLUSTER"])
job = client.submit_job(
    entrypoint="python train.py",
    runtime_env={"working_dir": ".", "env_vars": {"WANDB_API_KEY": os.environ.get("WANDB_API_KEY", "")}},
)
while not client.get_job_status(job).is_terminal():
    time.sleep(0.2)
print(client.get_job_logs(job))
sys.exit(client.get_job_status(job) != "SUCCEEDED")
"""
#: A driver that hands variables to its workers itself: one that the job has as well would end it before it begins.
DRIVER = TRAIN.replace(
    "ray.init()", 'ray.init(runtime_env={"env_vars": {"WANDB_API_KEY": "x" * 40, "NCCL_DEBUG": "INFO"}})'
)
#: W&B's calls, without the service that each process would start: what is shown here is how the token travels.
WANDB = """
from types import SimpleNamespace

run = None


def init(**settings):
    global run
    made = {"id": "i", "name": "n", "config": settings.get("config") or {}}
    run = SimpleNamespace(**made, log=lambda row, step=None: None, finish=lambda: None)
    return run


config = {}
"""
#: What submits, and what is submitted.
LAUNCHERS = {
    "no runtime environment": ("submit.sh", SHELL, DRIVER),
    "variables in JSON": ("submit.sh", SHELL_JSON, TRAIN),
    "JobSubmissionClient": ("submit.py", CLIENT, TRAIN),
}


@dataclass(frozen=True)
class Cluster:
    address: str
    api: Api


def _ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _environment(**more: str) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    return {"PATH": path, "LANG": "C.UTF-8", "RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", **more}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One head node, started as a person would, in an environment without a token."""
    # A folder of its own, short enough for Ray's sockets: other programs on this machine do not find the cluster.
    folder, api, sessions = tmp_path_factory.mktemp("ray"), Api(), tempfile.mkdtemp(prefix="ray-")
    gcs, dashboard, agent, grpc, metrics, client = _ports(6)
    command = [
        str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--num-cpus=2", "--disable-usage-stats",
        f"--temp-dir={sessions}", f"--port={gcs}", f"--dashboard-port={dashboard}",
        f"--dashboard-agent-listen-port={agent}", f"--dashboard-agent-grpc-port={grpc}",
        f"--metrics-export-port={metrics}", f"--ray-client-server-port={client}", "--object-store-memory=100000000",
    ]  # fmt: skip
    (folder / "stubs").mkdir()
    (folder / "stubs" / "wandb.py").write_text(WANDB)
    environment = _environment(
        HOME=str(folder), PROBE_BASE_URL=api.url, PYTHONPATH=str(folder / "stubs"),
        RAY_enable_worker_prestart="0", RAY_prestart_worker_first_driver="0",
    )  # fmt: skip
    with (folder / "log").open("wb") as log:
        node = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    address = f"http://127.0.0.1:{dashboard}"
    try:
        for _ in range(240):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/api/jobs/", timeout=2) as answer:
                if isinstance(json.load(answer), list):
                    break
            assert node.poll() is None, (folder / "log").read_text()
            time.sleep(0.5)
        else:
            raise AssertionError((folder / "log").read_text())
        yield Cluster(address, api)
    finally:
        # `ray stop` would end every cluster on this machine. The head ends its own processes.
        node.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            node.wait(30)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(node.pid, signal.SIGKILL)
        node.wait()
        api.die()
        shutil.rmtree(sessions, ignore_errors=True)


def submit(cluster: Cluster, folder: Path, launcher: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Submit as a person does who has a token in the shell."""
    program = "bash" if launcher.endswith(".sh") else sys.executable
    environment = _environment(
        HOME=str(folder), CLUSTER=cluster.address, PROBE_TOKEN="probe_pat_test", WANDB_API_KEY="k" * 40, **more
    )
    return subprocess.run(
        [program, launcher], cwd=folder, env=environment, capture_output=True, text=True, timeout=240, check=False
    )


def _repository(folder: Path, form: str) -> tuple[str, str]:
    """An instrumented repository; its launcher's name and what that was before."""
    launcher, text, train = LAUNCHERS[form]
    (folder / "train.py").write_text(train)
    (folder / launcher).write_text(text)
    applied(folder)
    assert planned(folder)[1] == {}
    return launcher, text


def _green(cluster: Cluster, folder: Path, launcher: str) -> str:
    cluster.api.requests.clear()
    done = submit(cluster, folder, launcher)
    assert done.returncode == 0 and "fitted" in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def _recorded(cluster: Cluster, output: str) -> None:
    assert sorted(cluster.api.points) == POINTS
    assert len(cluster.api.bodies("POST", "/runs")) == 1
    assert [body["status"] for body in cluster.api.bodies("PATCH", "") if "status" in body] == ["completed"]
    assert "probe_pat_test" not in output


def test_without_the_launchers_edit_nothing_is_recorded(cluster: Cluster, tmp_path: Path) -> None:
    """With everything applied but that, the job is as green, and its own log says that Probe is off."""
    launcher, text = _repository(tmp_path, "variables in JSON")
    assert (tmp_path / launcher).read_text() != text
    (tmp_path / launcher).write_text(text)
    output = _green(cluster, tmp_path, launcher)
    assert cluster.api.points == [] and cluster.api.bodies("POST", "/runs") == []
    assert "Probe is off" in output


@pytest.mark.parametrize("form", LAUNCHERS)
def test_a_submitted_job_records_from_its_actor(cluster: Cluster, form: str, tmp_path: Path) -> None:
    launcher, text = _repository(tmp_path, form)
    edited = (tmp_path / launcher).read_text()
    assert edited.count("PROBE_TOKEN") >= 1 and edited != text
    assert "PROBE_TOKEN" not in (tmp_path / "train.py").read_text()  # nor in the driver's `ray.init`
    _recorded(cluster, _green(cluster, tmp_path, launcher))
