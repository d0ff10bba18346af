"""The edited launchers hand the token over: run with stand-ins that start things as the real programs do.

Each stand-in (ssh, sudo, docker, srun, tmux, mpiexec) starts its command with an empty environment and what its options
say; `python` writes down the token that it sees. Before the edit no token arrives.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from instrument.repo.scan import Repository
from tests.test_launch import planned, results

#: What stands for python: a line per call.
PYTHON = '#!/bin/bash\nprintf "%s|%s\\n" "${PROBE_TOKEN-none}" "$*" >> "CALLS"\n'
#: A shell elsewhere: nothing of this environment.
_ELSEWHERE = 'exec /usr/bin/env -i PATH="$PATH" /bin/bash -c "$command"\n'
#: Hands on what `-e NAME`, `-e NAME=VALUE`, `--export=A,B` or `-x NAME` say; drops other options.
_OPTIONS = """#!/bin/bash
given=()
name() { if [[ $1 == *=* ]]; then given+=("$1"); elif [[ -v $1 ]]; then given+=("$1=${!1}"); fi; }
list() { local IFS=,; for one in $1; do if [[ $one == ALL ]]; then all; else name "$one"; fi; done; }
all() { while IFS= read -r one; do given+=("$one"); done < <(/usr/bin/env); }
while [[ $# -gt 0 ]]; do
  case $1 in
    -e|--env|-x) name "$2"; shift 2;;
    -genv) given+=("$2=$3"); shift 3;;
    -envlist) list "$2"; shift 2;;
    --export=*) list "${1#*=}"; shift;;
    -n|-np|-w|-s|--gpus) shift 2;;
    run|exec|img|--rm|-*) shift;;
    *) break;;
  esac
done
exec /usr/bin/env -i PATH="$PATH" "${given[@]}" "$@"
"""
TOOLS = {
    "ssh": '#!/bin/bash\nshift\ncommand="$*"\n' + _ELSEWHERE,
    "pdsh": '#!/bin/bash\nshift 2\ncommand="$*"\n' + _ELSEWHERE,
    "tmux": '#!/bin/bash\nwhile [[ $# -gt 1 ]]; do case $1 in -e) given+=("$2"); shift 2;; -s) shift 2;; *) shift;; esac; '
    'done\nexec /usr/bin/env -i PATH="$PATH" "${given[@]}" /bin/bash -c "$1"\n',
    "sudo": '#!/bin/bash\n[[ $1 == -u ]] && shift 2\nexec /usr/bin/env -i PATH="$PATH" "$@"\n',
    **dict.fromkeys(("docker", "srun", "mpirun", "mpiexec"), _OPTIONS),
}
#: `ray job submit`: the job has the variables of its runtime environment.
RAY = """#!/bin/bash
set -e
given=()
while [[ $1 != -- ]]; do
  case $1 in
    --runtime-env-json=*) given=($(python3 -c 'import json, sys
for name, value in json.loads(sys.argv[1])["env_vars"].items(): print(f"{name}={value}")' "${1#*=}"));;
  esac
  shift
done
shift
exec /usr/bin/env -i PATH="$PATH" "${given[@]}" "$@"
"""
LINES = [
    'env -i PATH="$PATH" WANDB_API_KEY="$WANDB_API_KEY" python train.py',
    'env - \\\n  PATH="$PATH" \\\n  WANDB_API_KEY="$WANDB_API_KEY" \\\n  python train.py',
    'sudo WANDB_API_KEY="$WANDB_API_KEY" python train.py',
    'sudo -u bob env WANDB_API_KEY="$WANDB_API_KEY" python train.py',
    'env -i PATH="$PATH" bash -c "WANDB_API_KEY=$WANDB_API_KEY python train.py"',
    'sudo bash -c "WANDB_API_KEY=$WANDB_API_KEY python train.py"',
    'ssh node "cd / && WANDB_API_KEY=$WANDB_API_KEY python train.py"',
    'ssh node "export WANDB_API_KEY=$WANDB_API_KEY; python train.py"',
    'ssh node "docker run --rm -e WANDB_API_KEY=$WANDB_API_KEY img python train.py"',
    "pdsh -w n1 \"WANDB_API_KEY='$WANDB_API_KEY' python train.py\"",
    'tmux new-session -d -s t "WANDB_API_KEY=$WANDB_API_KEY python train.py"',
    'tmux new -d -e WANDB_API_KEY="$WANDB_API_KEY" -s t "python train.py"',
    "docker run --rm -e WANDB_API_KEY img python train.py",
    'docker run -e "WANDB_API_KEY=$WANDB_API_KEY" --gpus all img bash -c "python train.py"',
    'bash -c "docker run -e WANDB_API_KEY img python train.py"',
    "bash -c 'docker run -e WANDB_API_KEY=$WANDB_API_KEY img python train.py'",
    "srun --export=WANDB_API_KEY python train.py",
    'VARS="WANDB_API_KEY,HOME"\nsrun --export="$VARS" python train.py',
    'srun --export=WANDB_API_KEY="$WANDB_API_KEY",LR=1 python train.py',
    "mpirun -np 2 -x WANDB_API_KEY python train.py",
    'mpiexec -genv WANDB_API_KEY "$WANDB_API_KEY" -n 2 python train.py',
    "mpiexec -envlist WANDB_API_KEY,HOME -n 2 python train.py",
    'args=(\n  --rm\n  -e WANDB_API_KEY  # the key\n)\ndocker run "${args[@]}" img python train.py',
    'opts="-e WANDB_API_KEY -e A=b"\ndocker run $opts img python train.py',
]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    for name, text in {"python": PYTHON.replace("CALLS", str(folder / "calls")), **TOOLS}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def _run(script: Path, tools: Path, **token: str) -> list[str]:
    (tools / "calls").write_text("")
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "WANDB_API_KEY": "k1", "HOME": str(tools), **token}
    done = subprocess.run(
        ["/bin/bash", "-u", str(script)], env=environment, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr.decode()
    return (tools / "calls").read_text().splitlines()


@pytest.mark.parametrize("line", LINES)
def test_the_token_arrives(line: str, tools: Path, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "train.py").write_text("import wandb\n\nwandb.log({'loss': 1.0})\n")
    (root / "run.sh").write_text(f"#!/usr/bin/env bash\n{line}\n")
    repo = Repository(root)
    plan = planned(repo)
    assert [note.code for note in plan.notes if note.level == "question"] == []
    after = tmp_path / "after.sh"
    after.write_bytes(results(repo, plan)["run.sh"])
    assert _run(root / "run.sh", tools, PROBE_TOKEN="t1") == ["none|train.py"]
    assert _run(after, tools, PROBE_TOKEN="t1") == ["t1|train.py"]
    # Without a token, also under `set -u`, the same program is started, with none or an empty one.
    assert _run(after, tools) in (["none|train.py"], ["|train.py"])


MAKE = Path(__file__).with_name("launch") / "shell_env" / "make_variables"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("target", ["flags", "defined", "continued", "cleared", "remote", "slurm", "branch", "submit"])
def test_the_token_arrives_through_make(target: str, tools: Path) -> None:
    """Each target of a Makefile, run by make itself, from the folder before and the folder after."""
    (tools / "ray").write_text(RAY)
    (tools / "ray").chmod(0o755)
    times = 2 if target == "submit" else 1
    for folder, seen in (("before", "none"), ("after", "t1")):
        environment = {"PATH": f"{tools}:/usr/bin:/bin", "WANDB_API_KEY": "k1", "HOME": str(tools), "PROBE_TOKEN": "t1"}
        (tools / "calls").write_text("")
        command = ["make", "-s", "-f", str(MAKE / folder / "Makefile"), target]
        done = subprocess.run(command, cwd=tools, env=environment, capture_output=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr.decode()
        assert (tools / "calls").read_text().splitlines() == [f"{seen}|train.py"] * times
