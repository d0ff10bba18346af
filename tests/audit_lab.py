"""Small trainers run offline, before and after a fix, each in a process of its own that is forked from a warm one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from instrument.audit import engine
from instrument.audit.fixes._settle import Settled, settle
from instrument.audit.settings import load
from instrument.patch.proofs import prove
from instrument.patch.write import apply
from instrument.plan.model import Plan
from instrument.repo.scan import Repository

DATA = Path(__file__).parent / "data" / "audit"

#: Loading the SDK and W&B costs a second each: once, and not for each run.
RUNNER = """
import json, os, runpy, sys
jobs = json.load(sys.stdin)
import probe, wandb
home = os.environ["HOME"]
os.environ["PROBE_OUTBOX_DIR"] = os.path.join(home, "warm")
probe.init(name="warm", capture_reads=False, capture_outputs=False); probe.log({"a": 1}, step=0); probe.finish()
codes = []
for job in jobs:
    sys.stdout.flush(); sys.stderr.flush()
    pid = os.fork()
    if not pid:
        code = 1
        try:
            os.chdir(job["cwd"]); os.environ.update(job["env"]); sys.argv = [job["script"]]; sys.path[0] = job["cwd"]
            runpy.run_path(job["script"], run_name="__main__")
            code = 0
        except SystemExit as error:
            code = int(error.code or 0)
        except BaseException:
            import traceback; traceback.print_exc()
        finally:
            sys.stdout.flush(); sys.stderr.flush(); os._exit(code)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
print("CODES " + json.dumps(codes))
"""


@dataclass
class Job:
    """One run of one script."""

    folder: Path
    script: str
    code: int = 0
    env: dict[str, str] = field(default_factory=dict)


def run(home: Path, jobs: list[Job]) -> None:
    """Run the jobs one after the other; each must end with its code. Records lie in `record/` of each job's folder."""
    given = []
    for job in jobs:
        record = job.folder / "record"
        (record / "wandb").mkdir(parents=True, exist_ok=True)
        env = {"PROBE_OUTBOX_DIR": str(record / "outbox"), "WANDB_DIR": str(record / "wandb"), **job.env}
        given.append({"cwd": str(job.folder), "script": str(job.folder / job.script), "env": env})
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PROBE_", "WANDB_", "KILL_AT"))}
    private = {
        "HOME": str(home), "PROBE_MODE": "offline", "PROBE_AUTO_LOGIN": "0", "PROBE_TELEMETRY": "0",
        "PROBE_CONFIG_PATH": str(home / "config.json"), "WANDB_MODE": "offline", "WANDB_CONSOLE": "off",
        "WANDB_SILENT": "true", "WANDB_DISABLE_GIT": "true", "WANDB_ERROR_REPORTING": "false",
        "WANDB_CONFIG_DIR": str(home / "wandb-config"), "WANDB_CACHE_DIR": str(home / "wandb-cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", RUNNER], input=json.dumps(given), env=kept | private, cwd=home, timeout=600,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    line = next((line for line in done.stdout.splitlines() if line.startswith("CODES ")), None)
    assert line is not None, done.stderr[-4000:]
    codes = json.loads(line.removeprefix("CODES "))
    assert codes == [job.code for job in jobs], f"{codes}\n{done.stderr[-4000:]}"


def settled(folder: Path, *, review: bool = True) -> tuple[Repository, Settled]:
    """What `--fix` would do in a folder, with every proof made."""
    repo = Repository(folder)
    settings = load(folder)

    def again(changed: Repository) -> Plan:
        return settle(engine.audit(changed, settings), review=review).plan

    found = settle(engine.audit(repo, settings), review=review)
    prove(repo, found.plan, again)
    return repo, found


def fix(folder: Path, *, review: bool = True) -> Settled:
    """Write the fixes; a second time there is nothing to do."""
    repo, found = settled(folder, review=review)
    apply(repo, found.plan)
    assert settled(folder, review=review)[1].plan.empty
    return found
