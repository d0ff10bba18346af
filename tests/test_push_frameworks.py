"""Push hooks in the real frameworks. Each needs an environment of its own: `PUSH_PYTHON_AIRFLOW=/path/bin/python pytest ...`.

Airflow, Prefect, Dagster, Metaflow, Flyte and Kubeflow pin what others can't live with, so that none of them is in the
extra `frameworks`; where a variable is not set, the Python of the tests is asked whether it has the framework.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from instrument.patch.write import apply
from instrument.plan.context import Options
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository
from tests.test_push import SECRET, TOKEN, Receiver

pytestmark = [pytest.mark.framework, pytest.mark.slow]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    door = Receiver()
    yield door
    door.server.shutdown()
    door.server.server_close()


def python_with(package: str) -> str:
    given = os.environ.get(f"PUSH_PYTHON_{package.upper()}")
    if given:
        return given
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"set PUSH_PYTHON_{package.upper()} to a Python that has {package}")
    return sys.executable


def instrumented(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    repo = Repository(folder)
    apply(repo, make_plan(repo, Options(push=True)))


def run(command: list[str], folder: Path, receiver: Receiver, *, code: int | None = 0, **more: str) -> str:
    env = {**os.environ, **receiver.environment, "HOME": str(folder), **more}
    env.pop("PYTHONPATH", None)
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    told = done.stdout + done.stderr
    assert code is None or done.returncode == code, told[-4000:]
    assert TOKEN not in told and SECRET not in told
    return told


PREFECT = """
from prefect import flow, task

@task
def work(n):
    return n + 1

@flow
def good(n: int = 1, api_key: str = "hush"):
    return work(n)

@flow(name="second", on_failure=[lambda flow, run, state: print("their own hook")])
def bad():
    raise ValueError("no")

if __name__ == "__main__":
    good(2)
    try:
        bad()
    except ValueError:
        print("failed as it should")
"""


def test_prefect(tmp_path: Path, receiver: Receiver) -> None:
    python = python_with("prefect")
    instrumented(tmp_path, {"flows.py": PREFECT})
    receiver.answers = [500]  # the first is tried again
    told = run(
        [python, "flows.py"],
        tmp_path,
        receiver,
        PREFECT_HOME=str(tmp_path / "prefect"),
        PREFECT_SERVER_ANALYTICS_ENABLED="false",
    )
    assert "failed as it should" in told and "their own hook" in told
    assert receiver.states == ["prefect running", "prefect completed", "prefect failed"]
    assert receiver.requests[0][2] == receiver.requests[1][2]
    ids = [body["run"]["external_id"] for body in receiver.bodies]
    assert len(ids) == 5 and len(set(ids)) == 2
    assert receiver.bodies[0]["run"]["config"] == {"n": 2, "api_key": "<redacted>"}


DAGSTER = """
import dagster as dg

@dg.op
def work():
    return 1

@dg.op
def broken():
    raise ValueError("no")

@dg.job
def good():
    work()

@dg.job
def bad():
    broken()

defs = dg.Definitions(jobs=[good, bad])
"""
#: What the daemon does, without waiting for its clock: the runs, then each sensor on the event of its state.
TICK = """
import sys, dagster as dg
import defs_module
from dagster import DagsterInstance, build_run_status_sensor_context
with dg.instance_for_test() as instance:
    defs = defs_module.defs
    for job in ("good", "bad"):
        result = defs.get_job_def(job).execute_in_process(instance=instance, raise_on_error=False)
        for sensor in defs.get_repository_def().sensor_defs:
            state = {"running": "STARTED", "completed": "SUCCESS", "failed": "FAILURE"}.get(sensor.name.rsplit("_", 1)[1])
            for event in instance.all_logs(result.run_id):
                if event.is_dagster_event and event.dagster_event_type.value == {"STARTED": "PIPELINE_START", "SUCCESS": "PIPELINE_SUCCESS", "FAILURE": "PIPELINE_FAILURE"}.get(state):
                    context = build_run_status_sensor_context(sensor_name=sensor.name, dagster_event=event.dagster_event,
                        dagster_instance=instance, dagster_run=instance.get_run_by_id(result.run_id))
                    sensor(context)
    print(sorted(sensor.name for sensor in defs.get_repository_def().sensor_defs))
"""


def test_dagster(tmp_path: Path, receiver: Receiver) -> None:
    python = python_with("dagster")
    instrumented(tmp_path, {"defs_module.py": DAGSTER})
    (tmp_path / "tick.py").write_text(TICK)
    told = run([python, "tick.py"], tmp_path, receiver, DAGSTER_DISABLE_TELEMETRY="1")
    assert "['probe_push_canceled', 'probe_push_completed', 'probe_push_failed', 'probe_push_running']" in told
    assert receiver.states == ["dagster running", "dagster completed", "dagster failed"] or sorted(receiver.states) == [
        "dagster completed", "dagster failed", "dagster running",
    ]  # fmt: skip
    assert len({body["run"]["external_id"] for body in receiver.bodies}) == 2 and len(receiver.bodies) == 4
    assert all(body["run"]["started_at"] for body in receiver.bodies)


AIRFLOW = """
import datetime
try:
    from airflow.sdk import DAG, task
except ImportError:
    from airflow import DAG
    from airflow.decorators import task

with DAG("nightly", schedule=None, start_date=datetime.datetime(2026, 1, 1)):
    @task
    def work():
        return 1
    work()

with DAG("broken", schedule=None, start_date=datetime.datetime(2026, 1, 1)):
    @task
    def fail():
        raise ValueError("no")
    fail()
"""


def test_airflow(tmp_path: Path, receiver: Receiver) -> None:
    python = python_with("airflow")
    instrumented(tmp_path, {"dags/nightly.py": AIRFLOW})
    assert (tmp_path / "dags/nightly.py").read_text() == AIRFLOW and (tmp_path / "plugins/probe_push.py").is_file()
    settings = {
        "AIRFLOW_HOME": str(tmp_path), "AIRFLOW__CORE__LOAD_EXAMPLES": "False", "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(tmp_path / "dags"), "AIRFLOW__CORE__PLUGINS_FOLDER": str(tmp_path / "plugins"),
    }  # fmt: skip
    airflow = [python, "-m", "airflow"]
    run([*airflow, "db", "migrate"], tmp_path, receiver, **settings)
    run(
        [*airflow, "dags", "test", "nightly", "--conf", json.dumps({"lr": 0.1, "db_password": "hush"})],
        tmp_path,
        receiver,
        **settings,
    )
    assert receiver.states[-1] == "airflow completed"
    run([*airflow, "dags", "test", "broken"], tmp_path, receiver, code=None, **settings)
    assert receiver.states[-1] == "airflow failed"
    done = receiver.bodies[-2 if len(receiver.bodies) < 3 else 0]["run"]
    assert done["external_id"].startswith("nightly/") and done["config"] == {"lr": 0.1, "db_password": "<redacted>"}


METAFLOW = """
import sys
from metaflow import FlowSpec, Parameter, step

class Train(FlowSpec):
    fail = Parameter("fail", default=False, type=bool)

    @step
    def start(self):
        self.next(self.work)

    @step
    def work(self):
        if self.fail:
            raise ValueError("no")
        self.next(self.end)

    @step
    def end(self):
        print("done")

if __name__ == "__main__":
    Train()
"""


def test_metaflow(tmp_path: Path, receiver: Receiver) -> None:
    python = python_with("metaflow")
    instrumented(tmp_path, {"flow.py": METAFLOW})
    settings = {"USERNAME": "tester", "METAFLOW_USER": "tester"}
    run([python, "flow.py", "run"], tmp_path, receiver, **settings)
    assert receiver.states == ["metaflow running", "metaflow completed"]
    run([python, "flow.py", "run", "--fail", "True"], tmp_path, receiver, code=None, **settings)
    assert [body["run"]["status"] for body in receiver.bodies] == ["running", "completed", "running", "failed"]
    assert len({body["run"]["external_id"] for body in receiver.bodies}) == 2


FLYTE = """
from flytekit import task, workflow

@task
def train(lr: float) -> float:
    if lr > 1:
        raise ValueError("no")
    return lr * 2

@workflow
def wf(lr: float = 0.1) -> float:
    return train(lr=lr)

if __name__ == "__main__":
    print(wf(lr=0.25))
    try:
        wf(lr=2.0)
    except Exception:
        print("failed as it should")
"""


def test_flyte(tmp_path: Path, receiver: Receiver) -> None:
    python = python_with("flytekit")
    instrumented(tmp_path, {"wf.py": FLYTE})
    told = run([python, "wf.py"], tmp_path, receiver)
    assert "0.5" in told and "failed as it should" in told
    assert [body["run"]["status"] for body in receiver.bodies] == ["running", "completed", "running", "failed"]


KUBEFLOW = """
from kfp import compiler, dsl

@dsl.component
def train(lr: float) -> float:
    return lr

@dsl.pipeline(name="nightly")
def pipe(lr: float = 0.1):
    '''Trains.'''
    first = train(lr=lr)
    train(lr=first.output)

if __name__ == "__main__":
    compiler.Compiler().compile(pipe, "out.yaml")
"""


def test_kubeflow(tmp_path: Path, receiver: Receiver) -> None:
    """Compiled: the tasks are inside an exit handler whose last task gets the final status."""
    import ruamel.yaml

    python = python_with("kfp")
    instrumented(tmp_path, {"pipe.py": KUBEFLOW})
    run([python, "pipe.py"], tmp_path, receiver)
    compiled = ruamel.yaml.YAML(typ="safe").load((tmp_path / "out.yaml").read_text())
    tasks = compiled["root"]["dag"]["tasks"]
    last = next(task for task in tasks.values() if "triggerPolicy" in task)
    assert last["triggerPolicy"]["strategy"] == "ALL_UPSTREAM_TASKS_COMPLETED"
    assert "taskFinalStatus" in json.dumps(last) and len(tasks) == 2


RAY = """
from ray.job_submission import JobSubmissionClient

client = JobSubmissionClient(ADDRESS)
job_id = client.submit_job(entrypoint="python -c 'print(1)'")
print(job_id)
"""


def test_ray(tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")  # its token would lie in the home of who runs the tests
    pytest.importorskip("ray.job_submission")
    import ray

    started = ray.init(address="local", num_cpus=1, include_dashboard=True, dashboard_port=0, ignore_reinit_error=True)
    try:
        instrumented(tmp_path, {"submit.py": RAY.replace("ADDRESS", repr(f"http://{started.dashboard_url}"))})
        run([sys.executable, "submit.py"], tmp_path, receiver)
    finally:
        ray.shutdown()
    assert receiver.states[-1] == "ray completed"
    assert len({body["run"]["external_id"] for body in receiver.bodies}) == 1
