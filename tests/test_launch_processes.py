"""Real processes: torchrun, spawned and forked workers, subprocesses and `probe exec`; each leaves one run.

Programs are instrumented as `apply` would, and run to the end, into an exception, and into SIGTERM. What must be there
then: one run, every point that was logged, and the status that says how it ended.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.miles import applied, planned
from tests.module_lab import RUN_ID, Api, read_outbox

pytest.importorskip("probe.sdk", reason="probe-research is not installed")
pytestmark = pytest.mark.framework
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")

#: `fit` logs three rows, then ends as HOW says: normally, by an exception, or never (it waits for a signal).
FIT = """
import os
import time

import wandb


def fit(run):
    for step in range(3):
        run.log({"loss": 6 / (step + 1)}, step=step)
    if os.environ["HOW"] == "exception":
        raise ValueError("diverged")
    if os.environ["HOW"] == "signal":
        open("ready", "w").close()
        time.sleep(60)
"""
TORCHRUN = (
    FIT
    + """
import torch.distributed as dist

dist.init_process_group("gloo")
run = None
if dist.get_rank() == 0:
    run = wandb.init(project="toy", mode="offline")
    fit(run)
    run.finish()
dist.barrier()
dist.destroy_process_group()
"""
)
_WORKER = """

def worker(rank, world):
    if rank == 0:
        run = wandb.init(project="toy", mode="offline")
        fit(run)
        run.finish()
"""
MP_SPAWN = (
    FIT
    + _WORKER
    + """

if __name__ == "__main__":
    import torch.multiprocessing as mp

    mp.spawn(worker, args=(2,), nprocs=2)
"""
)
MULTIPROCESSING = (
    FIT
    + _WORKER
    + """

if __name__ == "__main__":
    import multiprocessing
    import sys

    context = multiprocessing.get_context("METHOD")
    workers = [context.Process(target=worker, args=(rank, 2)) for rank in range(2)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    sys.exit(max(abs(one.exitcode) for one in workers))
"""
)
SCRIPT = (
    FIT
    + """

if __name__ == "__main__":
    run = wandb.init(project="toy", mode="offline")
    fit(run)
    run.finish()
"""
)
DRIVER = """
import subprocess
import sys

sys.exit(subprocess.run([sys.executable, "train.py"]).returncode)
"""
#: W&B's calls without the service that it starts in each process; the real one is in `subprocess` below.
WANDB = """
from types import SimpleNamespace

run = None


def init(project=None, mode=None, config=None):
    global run
    run = SimpleNamespace(id="i", name="n", config=config or {}, log=lambda row, step=None: None, finish=lambda: None)
    return run
"""
BIN = Path(sys.executable).parent
#: name: (files, command, whether SIGTERM goes to the launcher alone, which hands it on)
PROGRAMS: dict[str, tuple[dict[str, str], list[str], bool]] = {
    "torchrun": (
        {"train.py": TORCHRUN},
        [str(BIN / "torchrun"), "--standalone", "--nproc-per-node=2", "train.py"],
        True,
    ),
    "torch spawn": ({"train.py": MP_SPAWN}, [sys.executable, "train.py"], False),
    "spawn": ({"train.py": MULTIPROCESSING.replace("METHOD", "spawn")}, [sys.executable, "train.py"], False),
    "fork": ({"train.py": MULTIPROCESSING.replace("METHOD", "fork")}, [sys.executable, "train.py"], False),
    "subprocess": ({"train.py": SCRIPT, "drive.py": DRIVER}, [sys.executable, "drive.py"], False),
}
STATUS = {"success": "completed", "exception": "failed", "signal": "failed"}
POINTS = [("loss", 0, 6.0), ("loss", 1, 3.0), ("loss", 2, 2.0)]


def run(
    folder: Path, command: list[str], how: str, *, alone: bool = False, real: bool = False, **more: str
) -> tuple[int, str]:
    """Run in a folder, with nothing of this machine's settings; SIGTERM to the group (as Slurm) or the launcher alone."""
    (folder / "home").mkdir(exist_ok=True)
    if not real:
        (folder / "stubs").mkdir(exist_ok=True)
        (folder / "stubs" / "wandb.py").write_text(WANDB)
        more.setdefault("PYTHONPATH", str(folder / "stubs"))
    (folder / "ready").unlink(missing_ok=True)
    environment = {
        "PATH": f"{BIN}:/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(folder / "home"), "HOW": how,
        "PROBE_OUTBOX_DIR": str(folder / "outbox"), "WANDB_SILENT": "true", "WANDB_DIR": str(folder),
        "OMP_NUM_THREADS": "1", "PROBE_AUTO_SNAPSHOT": "0", **more,
    }  # fmt: skip
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        if how == "signal":
            limit = time.monotonic() + 90
            while not (folder / "ready").exists() and process.poll() is None and time.monotonic() < limit:
                time.sleep(0.1)
            time.sleep(0.5)
            (os.kill if alone else os.killpg)(process.pid, signal.SIGTERM)
        code = process.wait(120)
        limit = time.monotonic() + 40
        while _alive(process.pid) and time.monotonic() < limit:  # children that outlive the one that was started
            time.sleep(0.1)
    finally:
        if _alive(process.pid):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return code, (folder / "output").read_text(errors="replace")


def _alive(group: int) -> bool:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, 0)
        return True
    return False


def instrumented(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text)
    applied(folder)
    assert planned(folder)[1] == {}
    return folder


#: An exception in a worker of torch's takes the way of one in any other that is spawned.
ENDS = [(program, how) for program in PROGRAMS for how in STATUS if (program, how) != ("torch spawn", "exception")]


@pytest.mark.parametrize(("program", "how"), ENDS)
def test_one_run(program: str, how: str, tmp_path: Path) -> None:
    if program.startswith("torch"):
        pytest.importorskip("torch")
    files, command, alone = PROGRAMS[program]
    real = program == "subprocess"
    code, output = run(instrumented(tmp_path, files), command, how, alone=alone, real=real, PROBE_MODE="offline")
    runs = read_outbox(tmp_path / "outbox")
    assert len(runs) == 1, output
    assert sorted(runs[0].points) == POINTS, output
    assert runs[0].status == STATUS[how], output
    assert (code == 0) == (how == "success"), output


@pytest.mark.parametrize("how", STATUS)
def test_probe_exec_is_joined(how: str, tmp_path: Path) -> None:
    """`probe exec -- python train.py`: the code's own init joins the run that the launcher opened."""
    api = Api()
    try:
        folder = instrumented(tmp_path, {"train.py": SCRIPT})
        command = [str(BIN / "probe"), "exec", "--", sys.executable, "train.py"]
        code, output = run(folder, command, how, PROBE_TOKEN="probe_pat_test", PROBE_BASE_URL=api.url)
        time.sleep(0.5)
        assert (code == 0) == (how == "success"), output
        opened = [path for verb, path, _ in api.requests if verb == "POST" and path.split("?")[0].endswith("/runs")]
        assert len(opened) == 1, (opened, output)
        assert sorted(api.points) == POINTS, output
        assert all(RUN_ID in path for _, path, _ in api.requests if path.split("?")[0].endswith("/metrics"))
        statuses = [body["status"] for body in api.bodies("PATCH", "") if "status" in body]
        assert statuses and statuses[-1] == STATUS[how], (statuses, output)
    finally:
        api.die()


@pytest.mark.parametrize(("token", "code"), [(True, 0), (True, 7), (False, 7), (False, 0)])
def test_a_wrapped_command_and_the_real_probe_exec(token: bool, code: int, tmp_path: Path) -> None:
    """`--exec`: recorded where there is a token; without one the command runs all the same. Its exit code is kept."""
    api = Api()
    try:
        (tmp_path / "bin").mkdir()
        trainer = tmp_path / "bin" / "llamafactory-cli"
        trainer.write_text(f'#!/bin/bash\necho "${{PROBE_RUN_ID:-none}} $*" >> calls\nexit {code}\n')
        trainer.chmod(0o755)
        (tmp_path / "run.sh").write_text("#!/bin/bash\nllamafactory-cli train conf.yaml\n")
        assert "probe_exec llamafactory-cli" in applied(tmp_path, exec=True).joinpath("run.sh").read_text()
        more = {"PROBE_TOKEN": "probe_pat_test"} if token else {}
        path = f"{tmp_path / 'bin'}:{BIN}:/usr/bin:/bin"
        ended, output = run(tmp_path, ["bash", "run.sh"], "success", PROBE_BASE_URL=api.url, PATH=path, **more)
        assert ended == code, output
        assert (tmp_path / "calls").read_text() == f"{RUN_ID if token else 'none'} train conf.yaml\n", output
        assert ("runs without Probe" in output) == (not token)
        statuses = [body["status"] for body in api.bodies("PATCH", "") if "status" in body]
        assert statuses[-1:] == ([("failed" if code else "completed")] if token else []), (statuses, output)
    finally:
        api.die()
