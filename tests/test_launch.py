"""Launch rules, by folders: tests/launch/<rule>/<name>/before is a repository, after holds the files that must change.

A folder without `after` must not change. Every Python file and notebook of `before` counts as covered, so that the
rules are tested without the trackers'. Shell scripts are run, before and after, with stand-ins on PATH that print
their arguments.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from instrument.patch.proofs import prove
from instrument.plan.context import Context, Options
from instrument.plan.edits import ordered
from instrument.plan.model import Plan, Site
from instrument.plan.rules import Rule, all_rules
from instrument.repo.names import Program
from instrument.repo.scan import Repository

ROOT = Path(__file__).with_name("launch")
FOLDERS = sorted(path.parent for path in ROOT.glob("*/*/before"))
IDS = [folder.relative_to(ROOT).as_posix() for folder in FOLDERS]


def rules() -> tuple[Rule, ...]:
    return tuple(rule for rule in all_rules() if rule.plan.__module__.startswith("instrument.launch"))


def planned(repo: Repository, *, only: str | None = None, covered: bool = True) -> Plan:
    """Launch rules alone, on a repository whose Python is taken as covered."""
    chosen = [rule for rule in rules() if only is None or rule.name == only]
    repo.scan([needle for rule in chosen for needle in rule.needles])
    context = Context(repo, Program(repo), Options())
    if covered:
        for path in repo.files:
            if path.endswith((".py", ".ipynb")) and not path.endswith("setup.py"):
                context.plan.sites.append(
                    Site(rule="wandb", kind="emit", path=path, line=1, what="wandb.log", outcome="covered")
                )
    for rule in chosen:
        if repo.having(*rule.needles):
            rule.plan(context)
    return context.plan


def results(repo: Repository, plan: Plan) -> dict[str, bytes]:
    """The bytes of each edited file."""
    paths = sorted({edit.path for edit in plan.edits})
    return {p: repo.source(p).render(ordered(e for e in plan.edits if e.path == p)) for p in paths}


def files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("folder", FOLDERS, ids=IDS)
def test_folder(folder: Path, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    shutil.copytree(folder / "before", root)
    repo = Repository(root)
    plan = planned(repo)
    changed = results(repo, plan)
    expected = files(folder / "after") if (folder / "after").exists() else {}
    assert {p: d.decode() for p, d in changed.items()} == {p: d.decode() for p, d in expected.items()}
    notes = folder / "notes.json"
    said = [[note.code, note.path, note.line] for note in plan.notes if note.level in ("question", "refusal")]
    assert said == (json.loads(notes.read_text()) if notes.exists() else [])
    # The proofs that every plan must pass before it is written; planned again on the result, nothing is left to do.
    prove(repo, plan, planned)
    # Only insertions: taking them out gives the file back.
    assert all(edit.is_insertion for edit in plan.edits)
    for edit in plan.edits:
        assert edit.reason
        assert not re.search(r"PROBE_TOKEN[\"']?\s*[=:]\s*[\"']?p", edit.text)
        assert not re.search(r"(?<![\w-])probe(?![\w-])", edit.text)
    # Nothing covered: nothing to do.
    assert planned(Repository(root), covered=False).edits == []
    for path, data in changed.items():
        if data.startswith(b"#!/bin/bash"):
            _runs_as_before(root, path, data, tmp_path)


#: What the stand-ins are called.
_TOOLS = (
    "docker", "podman", "ray", "srun", "sbatch", "qsub", "apptainer", "singularity", "mpirun", "sky", "kubectl", "pip",
    "pip3", "uv", "poetry", "python", "python3", "sudo", "torchrun", "enroot",
)  # fmt: skip
#: What a forwarding may add to an argument.
_ADDED = re.compile(
    r',\s*"env_vars": {"PROBE_TOKEN": "[^"]*"}|,?\s*"PROBE_TOKEN": "[^"]*"'
    r'|,PROBE_TOKEN(=[^,\s]*)?|,?\s*"probe-research"| probe-research'
)


def _runs_as_before(root: Path, path: str, data: bytes, tmp_path: Path) -> None:
    """The edited script passes `bash -n` and makes the same calls."""
    after = root / (path + ".after")
    after.write_bytes(data)
    assert subprocess.run(["bash", "-n", str(after)], check=False).returncode == 0
    before = _calls(root, root / path, tmp_path)
    calls = [_without(call) for call in _calls(root, after, tmp_path)]
    assert calls == [_without(call) for call in before]
    assert before, "the script calls nothing that is stood in for"
    # Without a token in the environment, and with -u, the script gets through as well.
    assert [_without(c) for c in _calls(root, after, tmp_path, token=None)] == [_without(call) for call in before]


def _without(call: list[str]) -> list[str]:
    kept: list[str] = []
    for word in call:
        if re.fullmatch(r"PROBE_TOKEN(=.*)?", word) and kept:
            kept.pop()
            continue
        if word == "probe-research" and kept and kept[-1] == "--with":
            kept.pop()
            continue
        if word == "probe-research" or re.fullmatch(r"(-e|--[\w-]+=)PROBE_TOKEN(=.*)?", word):
            continue
        kept.append(re.sub(r"\s", "", _ADDED.sub("", word)))
    # An environment that was added as a whole.
    return [word for word in kept if word != '--runtime-env-json={"env_vars":{}}']


def _calls(root: Path, script: Path, tmp_path: Path, token: str | None = "t1") -> list[list[str]]:
    tools = tmp_path / "tools"
    tools.mkdir(exist_ok=True)
    log = tmp_path / "calls"
    log.write_bytes(b"")
    for name in _TOOLS:
        stub = tools / name
        stub.write_text('#!/bin/bash\n{ printf "%s\\0" "$(basename "$0")" "$@"; printf "\\n\\0"; } >> "$CALLS"\n')
        stub.chmod(0o755)
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "CALLS": str(log), "HOME": str(tmp_path), "WANDB_API_KEY": "k1"}
    if token:
        environment["PROBE_TOKEN"] = token
    done = subprocess.run(
        ["bash", str(script)], cwd=root, env={**environment, "LANG": os.environ.get("LANG", "C.UTF-8")},
        capture_output=True, check=False, timeout=20,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    calls: list[list[str]] = []
    for record in log.read_text().split("\n\0"):
        if record:
            words = record.split("\0")[:-1]
            calls.append(words)
            for word in words:
                if word.startswith(("--runtime-env-json=", "{")):
                    variables = json.loads(word.removeprefix("--runtime-env-json=")).get("env_vars", {})
                    if "PROBE_TOKEN" in variables:
                        assert variables["PROBE_TOKEN"] == (token or "")
    return calls
