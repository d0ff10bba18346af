"""The module with the real SDK, in processes of their own: how they end, what is wrong outside, and what is recorded.

Bounds on time are wide, for a machine at work: what they tell from is a wait of 90 or 600 seconds.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from tests.module_lab import Api, Lab, Run, closed_port, hung_server

pytest.importorskip("probe.sdk", reason="install probe-research")

ROWS = [(key, step, float(step)) for step in range(60) for key in ("loss", "n.acc")]
LOOP = """
import sys, os, signal, time
import probe_tracking as probe
probe.init(name="r", config={"lr": 0.1}, tags=["t"])
for step in range(60):
    probe.log({"loss": float(step), "n": {"acc": step}, "text": "x"}, step=step)
"""


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def check(run: Run, status: str | None) -> None:
    assert run.points == ROWS
    assert (run.name, run.config, run.tags, run.status) == ("r", {"lr": 0.1}, ["t"], status)
    if status is not None:
        assert run.before_close == len(ROWS), "rows came behind the close"


# -- how a process ends ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ending", "code", "status"),
    [
        ("", 0, "completed"),
        ("probe.finish()", 0, "completed"),
        ("1 / 0", 1, "failed"),
        ("sys.exit(3)", 3, "failed"),
        ("sys.exit(0)", 0, "completed"),
        ("try:\n    1 / 0\nfinally:\n    probe.finish()", 1, "failed"),
        ("os.kill(os.getpid(), signal.SIGINT); time.sleep(30)", -signal.SIGINT, "canceled"),
        ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(30)", -signal.SIGTERM, "failed"),
        ("import probe as sdk; sdk.finish()", 0, "completed"),
        ("import probe as sdk; sdk.active_run().finish()", 0, "completed"),
    ],
)
def test_how_a_process_ends_is_how_its_run_ends(lab: Lab, ending: str, code: int, status: str) -> None:
    done = lab.run(LOOP + ending + "\n")
    assert done.code == code, done.err
    check(done.run, status)
    assert not done.said and done.seconds < 45


def test_warnings_as_errors_change_nothing(lab: Lab) -> None:
    done = lab.run(LOOP, flags=["-W", "error"])
    assert done.code == 0, done.err
    check(done.run, "completed")


def test_with_and_a_second_run(lab: Lab) -> None:
    done = lab.run("""
import probe_tracking as probe
for fold in range(2):
    with probe.init(name=f"fold-{fold}"):
        probe.log({"acc": fold}, step=0)
probe.init(name="third")
probe.log({"acc": 3})
probe.init(name="fourth")
probe.log({"acc": 4})
""")
    assert done.code == 0, done.err
    assert [(run.name, run.points, run.status) for run in done.runs] == [
        ("fold-0", [("acc", 0, 0.0)], "completed"), ("fold-1", [("acc", 0, 1.0)], "completed"),
        ("third", [("acc", 0, 3.0)], "completed"), ("fourth", [("acc", 0, 4.0)], "completed"),
    ]  # fmt: skip


def test_points_have_the_time_of_the_call(lab: Lab) -> None:
    done = lab.run("""
import probe_tracking as probe, time
from datetime import datetime, timezone
probe.init()
for step in range(30):
    probe.log({"a": 1.0}, step=step)
    time.sleep(0.002)
print("now", datetime.now(timezone.utc).isoformat())
""")
    clocks = done.run.clocks
    assert clocks == sorted(clocks) and len(set(clocks)) == 30
    [now] = [line.split()[1] for line in done.out.splitlines() if line.startswith("now ")]
    assert datetime.fromisoformat(clocks[-1].replace("Z", "+00:00")) < datetime.fromisoformat(now)


# -- processes ------------------------------------------------------------------------------------------------------

FORK = """
import os, sys, multiprocessing, probe_tracking as probe
probe.init(name="r")
for step in range(40):
    probe.log({"parent": 1.0}, step=step)

def child():
    probe.log({"child": 1.0}, step=1000)
    probe.log({"child": 2.0}, step=1001)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize(
    "way",
    [
        "if os.fork() == 0:\n    child()\n    sys.exit(0)\nos.wait()",
        "if os.fork() == 0:\n    child()\n    probe.finish()\n    os._exit(0)\nos.wait()",
        "p = multiprocessing.get_context('fork').Process(target=child)\np.start()\np.join()\nassert p.exitcode == 0",
    ],
    ids=["exit", "finish and _exit", "multiprocessing"],
)
def test_a_forked_child_logs_into_the_run_and_leaves_it_open(lab: Lab, way: str) -> None:
    done = lab.run(FORK + way + "\nprobe.log({'parent': 2.0}, step=2000)\n")
    assert done.code == 0, done.err
    points = [("parent", step, 1.0) for step in range(40)] + [
        ("parent", 2000, 2.0),
        ("child", 1000, 1.0),
        ("child", 1001, 2.0),
    ]
    assert sorted(done.run.points) == sorted(points)
    assert done.run.status == "completed" and not done.said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_that_opens_its_own_run(lab: Lab) -> None:
    done = lab.run(
        FORK + "if os.fork() == 0:\n    probe.init(name='c')\n    child()\n    sys.exit(0)\nos.wait()\n"
        "probe.log({'parent': 2.0}, step=2000)\n"
    )
    assert done.code == 0, done.err
    runs = {run.name: run for run in done.runs}
    assert [point[0] for point in runs["r"].points] == ["parent"] * 41 and runs["r"].status == "completed"
    assert runs["c"].points == [("child", 1000, 1.0), ("child", 1001, 2.0)] and runs["c"].status == "completed"


def test_a_spawned_child_has_no_run_and_its_functions_pickle(lab: Lab) -> None:
    done = lab.run("""
import multiprocessing, pickle, probe_tracking as probe

def child(log):
    log({"a": 1.0})

if __name__ == "__main__":
    probe.init()
    pickle.loads(pickle.dumps(probe.log))({"b": 1.0})
    p = multiprocessing.get_context("spawn").Process(target=child, args=(probe.log,))
    p.start(); p.join()
    assert p.exitcode == 0
""")
    assert done.code == 0, done.err
    assert done.run.points == [("b", 0, 1.0)]


def test_data_loader_workers_are_left_alone(lab: Lab) -> None:
    """Children that are forked again and again while the thread is at work neither hang nor send anything."""
    done = lab.run("""
import multiprocessing, probe_tracking as probe
def work(x): return x
probe.init()
for epoch in range(5):
    for step in range(20):
        probe.log({"a": 1.0})
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(work, range(4))
""")
    assert done.code == 0 and done.seconds < 50, done.err
    assert done.run.points == [("a", step, 1.0) for step in range(100)]


# -- what is wrong outside ------------------------------------------------------------------------------------------

SHORT = """
import probe_tracking as probe
probe.init(name="r", config={"lr": 0.1})
for step in range(3):
    probe.log({"a": 1.0}, step=step)
    print("step", step)
probe.finish()
print("end")
"""
PRINTED = "step 0\nstep 1\nstep 2\nend\n"


def test_a_missing_package(lab: Lab) -> None:
    done = lab.run("import sys; sys.modules['probe'] = None\n" + SHORT, flags=["-W", "error"])
    assert (done.code, done.out) == (0, PRINTED), done.err
    assert len(done.said) == 1 and "ModuleNotFoundError" in done.said[0]


@pytest.mark.parametrize("own", ["x = 1", "def init(**k): raise SystemExit(5)", "raise RuntimeError('not for you')"])
def test_a_module_called_probe_in_the_repository(lab: Lab, own: str) -> None:
    lab.write("probe.py", own + "\n")
    done = lab.run(SHORT, flags=["-W", "error"])
    assert (done.code, done.out) == (0, PRINTED), done.err
    assert len(done.said) == 1 and not done.runs


def test_no_token(lab: Lab) -> None:
    done = lab.run(SHORT, PROBE_MODE=None, PROBE_BASE_URL=closed_port())
    assert (done.code, done.out) == (0, PRINTED), done.err
    assert len(done.said) == 1 and "AuthError" in done.said[0] and done.seconds < 45


def test_a_bad_mode(lab: Lab) -> None:
    done = lab.run(SHORT, PROBE_MODE="sideways")
    assert (done.code, done.out) == (0, PRINTED), done.err
    assert len(done.said) == 1


def test_disabled(lab: Lab) -> None:
    done = lab.run(SHORT, PROBE_MODE="disabled")
    assert (done.code, done.out) == (0, PRINTED), done.err
    assert not done.said and not done.runs


def test_an_outbox_that_can_not_be_written(lab: Lab) -> None:
    lab.write("outbox", "a file")
    done = lab.run(SHORT, flags=["-W", "error"])
    assert done.code == 0 and done.out.endswith("end\n"), done.err
    assert len(done.said) == 1


def test_a_home_that_is_missing(lab: Lab) -> None:
    done = lab.run(SHORT, HOME="/nonexistent/home", PROBE_OUTBOX_DIR=None)
    assert done.code == 0 and done.out.endswith("end\n"), done.err


@pytest.mark.skipif(sys.platform == "win32", reason="terminals are POSIX here")
def test_a_terminal_without_a_token_opens_no_login(lab: Lab) -> None:
    pexpect = pytest.importorskip("pexpect")
    lab.write("train.py", SHORT)
    (lab.folder / "home").mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(lab.folder / "home"),
        "PROBE_BASE_URL": closed_port(),
        "TERM": "xterm",
    }
    start = time.monotonic()
    child = pexpect.spawn(
        sys.executable, ["train.py"], cwd=str(lab.folder), env=environment, timeout=50, encoding="utf-8"
    )
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and time.monotonic() - start < 45
    assert "Probe is off" in child.before and child.before.rstrip().endswith("end")


# -- with a server --------------------------------------------------------------------------------------------------

ONLINE = {"PROBE_MODE": None, "PROBE_TOKEN": "t", "PROBE_INIT_TIMEOUT_SEC": "2", "PROBE_FINISH_TIMEOUT_SEC": "3"}


def test_nobody_listens(lab: Lab) -> None:
    done = lab.run(SHORT, **{**ONLINE, "PROBE_BASE_URL": closed_port()})
    assert done.code == 0 and done.out.endswith("end\n"), done.err
    assert done.run.points == [("a", step, 1.0) for step in range(3)], "recorded offline instead"
    assert done.seconds < 45 and not done.said


def test_a_server_that_never_answers(lab: Lab) -> None:
    with hung_server() as url:
        done = lab.run(SHORT, **{**ONLINE, "PROBE_BASE_URL": url})
    assert done.code == 0 and done.out.endswith("end\n"), done.err
    assert done.seconds < 45


@pytest.mark.slow
def test_the_bounds_of_the_module_itself_hold(lab: Lab) -> None:
    with hung_server() as url:
        done = lab.run(SHORT, PROBE_MODE=None, PROBE_TOKEN="t", PROBE_BASE_URL=url, timeout=100)
    assert done.code == 0 and done.out.endswith("end\n"), done.err
    assert done.seconds < 45


def test_a_server_that_answers_and_one_that_dies(lab: Lab) -> None:
    api = Api()
    done = lab.run(SHORT, **{**ONLINE, "PROBE_BASE_URL": api.url})
    assert (done.code, done.out) == (0, PRINTED), done.err
    assert api.points == [("a", step, 1.0) for step in range(3)]
    assert [body["status"] for body in api.bodies("PATCH", "") if "status" in body] == ["completed"]
    assert not api.bodies("POST", "/artifacts/uploads/batch"), "no code is uploaded"

    lab.write("wait.py", "")
    process = lab.start(
        SHORT.replace("probe.finish()", "print('ready', flush=True); time.sleep(1.5)\nfor step in range(3, 60): probe.log({'a': 1.0}, step=step)\nprobe.finish()")
        .replace("import probe", "import time, probe", 1),
        **{**ONLINE, "PROBE_BASE_URL": api.url},
    )  # fmt: skip
    assert process.stdout is not None
    while "ready" not in process.stdout.readline():
        pass
    api.die()
    start = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0 and out.endswith("end\n"), err
    assert time.monotonic() - start < 45


def test_a_run_that_a_launcher_opened_is_joined(lab: Lab) -> None:
    api = Api()
    done = lab.run(
        SHORT.replace('name="r"', 'name="r", tags=["x"], notes="n"'), flags=["-W", "error"],
        **{**ONLINE, "PROBE_BASE_URL": api.url, "PROBE_RUN_ID": "00000000-0000-0000-0000-000000000007"},
    )  # fmt: skip
    assert done.code == 0 and not done.said, done.err
    assert not api.bodies("POST", "/v1/runs"), "no second run"
    assert {"config_merge": {"lr": 0.1}} in api.bodies("PATCH", "00000007")
    assert api.points == [("a", step, 1.0) for step in range(3)]
    api.die()
