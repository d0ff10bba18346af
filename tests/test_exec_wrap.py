"""`--exec`: the wrapped command runs once whatever happens to `probe exec`, with its arguments and exit code."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from instrument.patch.diff import changes
from instrument.patch.proofs import prove
from instrument.plan.context import Options
from instrument.plan.model import Plan
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

SCRIPT = """#!/bin/bash
#SBATCH -N 1
set -euo pipefail
export OUT="a b"
for seed in 1 2; do
  SEED=$seed llamafactory-cli train conf.yaml "out=$OUT"
done
"""
#: What `probe` is on PATH, and what it does.
PROBES = {
    "missing": None,
    "no token": "echo 'error: no token' >&2; exit 1",
    "dies": "kill -9 $$",
    "works": 'shift 2; PROBE_RUN_ID=r1 "$@"',
}


def wrapped(folder: Path, text: str, **options: bool) -> tuple[Plan, str]:
    (folder / "run.sh").write_text(text)
    repo = Repository(folder)

    def again(repository: Repository) -> Plan:
        return make_plan(repository, Options(**options))

    plan = again(repo)
    prove(repo, plan, again)
    done = {change.path: change.after for change in changes(repo, plan)}
    return plan, (done.get("run.sh") or text.encode()).decode()


def run(folder: Path, script: str, probe: str | None, code: int) -> tuple[int, list[str], str]:
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    trainer = f'#!/bin/bash\nprintf "%s|" "$SEED" "${{PROBE_RUN_ID:-none}}" "$@" >> calls; echo >> calls; exit {code}\n'
    (folder / "calls").write_text("")
    for name, text in {"llamafactory-cli": trainer, "probe": probe and f"#!/bin/bash\n{probe}\n"}.items():
        (tools / name).unlink(missing_ok=True)
        if text:
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
    (folder / "after.sh").write_text(script)
    assert subprocess.run(["bash", "-n", "after.sh"], cwd=folder, check=False).returncode == 0
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "LANG": os.environ.get("LANG", "C.UTF-8"), "TMPDIR": str(folder)}
    done = subprocess.run(
        ["bash", "after.sh"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, (folder / "calls").read_text().splitlines(), done.stderr


@pytest.mark.parametrize("code", [0, 7])
@pytest.mark.parametrize("name", PROBES)
def test_the_command_runs_once(name: str, code: int, tmp_path: Path) -> None:
    _, text = wrapped(tmp_path, SCRIPT, exec=True)
    assert text.startswith("#!/bin/bash\n#SBATCH -N 1\n# Records") and "SEED=$seed probe_exec llamafactory-cli" in text
    before = run(tmp_path, SCRIPT, PROBES[name], code)
    after = run(tmp_path, text, PROBES[name], code)
    joined = "r1" if name == "works" else "none"
    assert after[:2] == (before[0], [line.replace("|none|", f"|{joined}|") for line in before[1]])
    assert len(after[1]) == (2 if code == 0 else 1)
    assert ("runs without Probe" in after[2]) == (name != "works")
    assert not list(tmp_path.glob("tmp.*"))


def test_a_command_at_the_top(tmp_path: Path) -> None:
    _, text = wrapped(tmp_path, "#!/bin/bash\nllamafactory-cli train conf.yaml\n", exec=True)
    assert text.endswith('  "$@"\n}\n\nprobe_exec llamafactory-cli train conf.yaml\n')


def test_only_where_it_was_asked_for(tmp_path: Path) -> None:
    assert wrapped(tmp_path, SCRIPT)[1] == SCRIPT


def test_what_can_not_call_a_function_is_asked_about(tmp_path: Path) -> None:
    plan, text = wrapped(tmp_path, "#!/bin/bash\nexec llamafactory-cli train conf.yaml\n", exec=True)
    assert "probe_exec" not in text
    assert [note.code for note in plan.notes if note.level == "question"] == ["not-wrapped"]
