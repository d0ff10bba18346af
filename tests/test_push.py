"""Hooks that tell Probe of runs (`--push`): where they go, and what a receiver gets of them."""

from __future__ import annotations

import hashlib
import hmac
import importlib.util
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from instrument import sdk
from instrument.patch.proofs import prove
from instrument.patch.write import apply
from instrument.plan.context import Options
from instrument.plan.model import Plan
from instrument.plan.planner import make_plan
from instrument.push._common import TITLES, render
from instrument.repo.scan import Repository

TOKEN, SECRET = "probe_ingest_0123456789abcdef", "s3cret-of-the-body"


class Receiver:
    """Probe's ingest door: keeps requests; answers with the codes it is given, then 200. -1 does not answer."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.requests.append((self.path, dict(self.headers), body))
                code = receiver.answers.pop(0) if receiver.answers else 200
                if code < 0:
                    self.connection.settimeout(5)
                    self.rfile.read(1)
                    return
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(b'{"run_id": "00000000-0000-0000-0000-000000000001"}')

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def environment(self) -> dict[str, str]:
        return {
            sdk.BASE_URL: f"http://127.0.0.1:{self.server.server_port}", sdk.INGEST_TOKEN: TOKEN, sdk.HMAC_SECRET: SECRET,
            "PROBE_PROJECT": "nightly",
        }  # fmt: skip

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, _, body in self.requests]

    @property
    def states(self) -> list[str]:
        """Source and status of each push, repeats left out; every one is checked to be signed."""
        for path, headers, body in self.requests:
            assert path == sdk.INGEST_PATH and headers["Authorization"] == f"Bearer {TOKEN}"
            signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
            assert headers[sdk.SIGNATURE_HEADER] == f"sha256={signature}"
        return list(dict.fromkeys(f"{body['run']['source']} {body['run']['status']}" for body in self.bodies))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    door = Receiver()
    yield door
    door.server.shutdown()
    door.server.server_close()


def module(tmp_path: Path, *parts: str, project: str | None = None) -> ModuleType:
    path = tmp_path / "probe_push.py"
    path.write_text(render(set(parts), project), "utf-8")
    spec = importlib.util.spec_from_file_location("probe_push_under_test", path)
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def pushing(tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    for key, value in receiver.environment.items():
        monkeypatch.setenv(key, value)
    made = module(tmp_path, "command")
    monkeypatch.setattr(made.time, "sleep", lambda seconds: None)
    return made


# -- one push -------------------------------------------------------------------------------------------------------


def test_a_push_is_signed_and_known_by_what_it_is_about(pushing: ModuleType, receiver: Receiver) -> None:
    assert pushing.push(
        "airflow", "dag/1", "running", name="x", config={"lr": 0.1, "db_password": "hush", "t": float("nan")}
    )
    assert pushing.push(
        "airflow", "dag/1", "running", name="x", config={"lr": 0.1, "db_password": "hush", "t": float("nan")}
    )
    assert pushing.push("airflow", "dag/1", "failed", name="x")
    assert receiver.states == ["airflow running", "airflow failed"]
    first, again, ended = receiver.bodies
    assert first == again and first["batch_id"] != ended["batch_id"]
    assert receiver.requests[0][2] == receiver.requests[1][2]  # byte for byte: the signature is the same as well
    assert first["run"]["external_id"] == "dag/1" and first["project_slug"] == "nightly"
    assert first["run"]["config"] == {"lr": 0.1, "db_password": "<redacted>", "t": "nan"}


@pytest.mark.parametrize("answers", [[500], [503, 502], [429], [-1]])
def test_a_retried_push_is_the_same_push(
    pushing: ModuleType, receiver: Receiver, answers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pushing, "_TIMEOUT", 0.3)
    receiver.answers = list(answers)
    assert pushing.push("slurm", 7, "completed")
    assert len(receiver.requests) == len(answers) + 1
    assert len({body for _, _, body in receiver.requests}) == 1 and receiver.states == ["slurm completed"]


@pytest.mark.parametrize(("answers", "tried"), [([401], 1), ([422], 1), ([500, 500, 500, 500], 3)])
def test_what_can_not_be_pushed_is_told_without_a_secret(
    pushing: ModuleType, receiver: Receiver, answers: list[int], tried: int, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answers = list(answers)
    with caplog.at_level(logging.DEBUG):
        assert not pushing.push("slurm", 7, "completed", config={"api_key": "hush"})
    assert len(receiver.requests) == tried and "not pushed to Probe: status" in caplog.text
    for word in (TOKEN, SECRET, "hush", "Bearer", "sha256="):
        assert word not in caplog.text


def test_nothing_raises(pushing: ModuleType, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv(sdk.BASE_URL, "http://127.0.0.1:9")
    assert not pushing.push("a", "b", "running")
    monkeypatch.setenv(sdk.BASE_URL, f"nonsense {TOKEN}")
    assert not pushing.push("a", "b", "running", config={1: object()})
    monkeypatch.delenv(sdk.INGEST_TOKEN)
    assert not pushing.push("a", "b", "running")
    assert TOKEN not in caplog.text


def test_the_request_is_that_of_the_sdk(
    pushing: ModuleType, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Contract: `Client.ingest` sends the same run to the same door with the same headers."""
    probe = pytest.importorskip("probe")
    monkeypatch.setenv("PROBE_CONFIG_PATH", str(tmp_path / "config.json"))
    monkeypatch.setenv(sdk.OUTBOX_DIR, str(tmp_path / "outbox"))
    pushing.push("airflow", "dag/1", "completed", name="x", config={"lr": 0.1}, ended_at=pushing._now())
    ours = receiver.bodies[0]
    assert set(ours) <= set(sdk.INGEST_FIELDS) and set(ours["run"]) <= {*sdk.INGEST_RUN_FIELDS, "liveness_mode"}
    client = probe.Client(ingest_token=TOKEN, hmac_secret=SECRET, base_url=receiver.environment[sdk.BASE_URL])
    client.ingest(experiment_slug=None, **ours, strict=True)
    assert receiver.states == ["airflow completed"]
    theirs = receiver.bodies[1]
    assert {key: value for key, value in theirs.items() if value} | {"run": 0} == ours | {"run": 0}
    for key, value in ours["run"].items():
        assert theirs["run"][key] == value or key == "ended_at"
    from probe.sdk.config import DEFAULT_BASE_URL

    assert DEFAULT_BASE_URL == sdk.DEFAULT_BASE_URL


def test_as_a_command(tmp_path: Path, receiver: Receiver) -> None:
    module(tmp_path, "command")
    for status in ("running", "0", "1", "success", "failure", "cancelled"):
        subprocess.run(
            [sys.executable, "probe_push.py", "slurm", "c/1", status, "job"], cwd=tmp_path, check=True,
            env={**os.environ, **receiver.environment},
        )  # fmt: skip
    assert [body["run"]["status"] for body in receiver.bodies] == [
        "running", "completed", "failed", "completed", "failed", "canceled",
    ]  # fmt: skip


@pytest.mark.parametrize("part", TITLES)
def test_every_part_compiles_for_old_pythons(part: str) -> None:
    text = render({part}, project="p")
    import ast

    ast.parse(text, feature_version=(3, 9))
    assert "written by probe-instrument" in text and 'PROJECT = "p"' in text


# -- where hooks go -------------------------------------------------------------------------------------------------

FILES = {
    "airflow": {"airflow/dags/nightly.py": "from airflow import DAG\n\nwith DAG('nightly') as dag:\n    pass\n"},
    "prefect": {
        "flows/train.py": "from prefect import flow, task\n\n\n@flow\ndef one():\n    pass\n\n\n"
        "@flow(name='two', retries=1)\nasync def two():\n    pass\n\n\n@task\ndef no():\n    pass\n"
    },
    "dagster": {
        "pipe.py": "import dagster as dg\n\n\n@dg.job\ndef train():\n    pass\n\n\ndefs = dg.Definitions(\n    jobs=[train],\n)\n",
        "other.py": "from dagster import Definitions\n\nmine = []\ndefs = Definitions(sensors=[*mine], jobs=[])\n",
    },
    "flyte": {"wf.py": "from flytekit import task, workflow\n\n\n@task(retries=2)\ndef train(lr: float) -> float:\n    return lr\n"},
    "metaflow": {
        "flow.py": "from metaflow import FlowSpec, step, batch\n\n\nclass Train(FlowSpec):\n    @batch\n    @step\n    def start(self):\n"
        "        self.next(self.end)\n\n    @step\n    def end(self):\n        pass\n"
    },
    "kubeflow": {"p.py": "from kfp import dsl\n\n\n@dsl.pipeline(name='train')\ndef pipe(lr: float = 0.1):\n    pass\n"},
    "ray_job_push": {
        "submit.py": "from ray.job_submission import JobSubmissionClient\n\nclient = JobSubmissionClient()\n"
        "job_id = client.submit_job(entrypoint='python train.py')\nprint(job_id)\n"
    },
    "slurm": {"jobs/train.sbatch": "#!/bin/bash\n#SBATCH --gpus=1\n#SBATCH -t 10\n\npython train.py\n"},
    "github_actions": {
        ".github/workflows/nightly.yml": "on: push\njobs:\n  lint:\n    runs-on: x\n    steps:\n      - run: ruff check\n"
        "  train:\n    runs-on: x\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n          python train.py\n\n  after:\n    runs-on: x\n"
        "    steps:\n      - run: ls\n"
    },
    "argo": {
        "wf.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata:\n  generateName: t-\nspec:\n  entrypoint: main\n"
        "  templates:\n    - name: main\n      container:\n        image: x\n        command: [python, train.py]\n"
    },
}  # fmt: skip


def planned(folder: Path, **options: Any) -> tuple[Repository, Plan]:
    repo = Repository(folder)
    return repo, make_plan(repo, Options(push=True, **options))


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


@pytest.mark.parametrize("name", FILES)
def test_a_hook_is_put_in_once_and_proved(tmp_path: Path, name: str) -> None:
    write(tmp_path, FILES[name])
    assert make_plan(Repository(tmp_path)).empty, "only where it is asked for"
    repo, plan = planned(tmp_path)
    assert name in plan.shapes and not plan.empty
    assert {site.outcome for site in plan.sites if site.rule == name} == {"covered"}, plan.notes
    prove(repo, plan, lambda again: make_plan(again, Options(push=True)))
    apply(repo, plan)
    _, again = planned(tmp_path)
    assert again.empty and {site.outcome for site in again.sites if site.rule == name} == {"already"}


def applied(tmp_path: Path, name: str) -> dict[str, str]:
    write(tmp_path, FILES[name])
    repo, plan = planned(tmp_path)
    apply(repo, plan)
    return {name: (tmp_path / name).read_text("utf-8") for name in FILES[name]}


def test_the_text_of_hooks(tmp_path: Path) -> None:
    [flows] = applied(tmp_path / "a", "prefect").values()
    assert "def one():\n    pass\n\n\nprobe_push.prefect(one)\n\n\n@flow(name=" in flows
    assert (
        "async def two():\n    pass\n\n\nprobe_push.prefect(two)\n" in flows and flows.count("import probe_push") == 1
    )
    first, second = applied(tmp_path / "b", "dagster").values()
    assert "    jobs=[train],\n    sensors=probe_push.SENSORS,\n)" in first
    assert "sensors=[*mine, *probe_push.SENSORS]" in second
    [flow] = applied(tmp_path / "c", "metaflow").values()
    assert flow.endswith("        pass\n\n\nprobe_push.metaflow(Train)\n")
    [script] = applied(tmp_path / "d", "slurm").values()
    assert script.splitlines()[2] == "#SBATCH -t 10" and "trap 'python3" in script.splitlines()[4]
    [workflow] = applied(tmp_path / "e", "github_actions").values()
    assert workflow.count("Tell Probe") == 1 and workflow.index("train.py") < workflow.index(
        "Tell Probe"
    ) < workflow.index("after:")
    import ruamel.yaml

    job = ruamel.yaml.YAML(typ="safe").load(workflow)["jobs"]["train"]["steps"][-1]
    assert job["if"] == "always()" and job["env"]["PROBE_INGEST_TOKEN"] == "${{ secrets.PROBE_INGEST_TOKEN }}"
    [argo] = applied(tmp_path / "f", "argo").values()
    spec = ruamel.yaml.YAML(typ="safe").load(argo)["spec"]
    assert spec["onExit"] == "probe-push" and [t["name"] for t in spec["templates"]] == ["main", "probe-push"]
    assert spec["templates"][1]["container"]["args"][-1] == "{{workflow.status}}"


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"a.py": "import dagster\n\nd = dagster.Definitions(**{})\n"}, "sensors-by-hand"),
        ({"a.sh": "#!/bin/sh\n#SBATCH -n 1\ntrap 'rm -r x' EXIT\npython t.py\n"}, "trap-of-its-own"),
        ({"a.py": "from ray.job_submission import JobSubmissionClient\nJobSubmissionClient().submit_job(entrypoint='x')\n"}, "job-not-kept"),
        (
            {"a.yaml": "apiVersion: argoproj.io/v1\nkind: Workflow\nspec:\n  entrypoint: a\n  onExit: mine\n  templates:\n  - name: a\n"},
            "exit-handler-by-hand",
        ),
    ],
)  # fmt: skip
def test_what_has_one_of_its_own_is_asked_about(tmp_path: Path, files: dict[str, str], code: str) -> None:
    write(tmp_path, files)
    _, plan = planned(tmp_path)
    assert plan.empty and [note.code for note in plan.notes] == [code]


def test_a_batch_script_keeps_its_exit_code(tmp_path: Path, receiver: Receiver) -> None:
    [script] = applied(tmp_path, "slurm")
    path = tmp_path / script
    path.write_text(path.read_text().replace("python train.py", 'eval "$1"'))
    env = {**os.environ, **receiver.environment, "SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_JOB_ID": "42"}
    for command, code in (("true", 0), ("exit 3", 3), ("false", 1), ("kill -TERM $$", -15)):
        done = subprocess.run(["bash", str(path), command], env=env, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
    statuses = [body["run"]["status"] for body in receiver.bodies]
    assert statuses[:3] == ["completed", "failed", "failed"]
    assert {body["run"]["external_id"] for body in receiver.bodies} == {"slurm/42"}


def test_the_dags_of_a_folder_share_one_plugin_and_platforms_one_file(tmp_path: Path) -> None:
    write(tmp_path, {**FILES["prefect"], "flows/submit.py": FILES["ray_job_push"]["submit.py"]})
    _, plan = planned(tmp_path, project="nightly")
    [new] = plan.new_files
    assert (
        new.path == "flows/probe_push.py" and "push: prefect, ray_job" in new.text and 'PROJECT = "nightly"' in new.text
    )
