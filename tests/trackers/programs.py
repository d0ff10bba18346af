"""Tiny programs from text files, what the tool makes of them, and what both do when they run.

A text file holds programs, each below a line `=== name`, words after it saying what is expected beyond equality:

    asked       the plan asks or says about at least one place; Probe may get less than the tracker
    two         two trackers are sent the same: Probe has one run, with every point of it from one of them, none twice
    left        the plan leaves the tracker's calls alone: Probe gets nothing
    KEY=VALUE   an environment variable

A program of several files has lines `--- path` between them; the first is `main.py` unless named.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instrument.patch.diff import changes
from instrument.patch.proofs import prove
from instrument.plan.model import Plan
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

HERE = Path(__file__).parent
#: Keys that are made while a program runs: beside another tracker they are not known to be new.
_NOT_SEEN = {"x0", "x1", "x2"}
DOUBLES = HERE / "doubles"


@dataclass
class Program:
    """One program as it was written."""

    name: str
    files: dict[str, str]
    words: frozenset[str] = frozenset()
    env: dict[str, str] = field(default_factory=dict)


@dataclass
class Instrumented:
    """The plan for a program and the files as it leaves them."""

    program: Program
    plan: Plan
    files: dict[str, bytes]
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)

    def text(self, path: str = "main.py") -> str:
        return self.files[path].decode()


def read_programs(path: Path) -> list[Program]:
    """The programs of a text file, in order."""
    found: list[Program] = []
    file = "main.py"
    for line in path.read_text("utf-8").split("\n"):
        if line.startswith("=== "):
            name, *words = line[4:].split()
            env = dict(word.split("=", 1) for word in words if "=" in word)
            found.append(Program(name, {}, frozenset(w for w in words if "=" not in w), env))
            file = "main.py"
        elif line.startswith("--- "):
            file = line[4:].strip()
            found[-1].files[file] = ""
        elif found:
            files = found[-1].files
            files[file] = files.get(file, "") + line + "\n"
    for program in found:
        program.files = {name: text.strip("\n") + "\n" if text.strip() else "" for name, text in program.files.items()}
    return found


def _write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def instrumented(programs: list[Program]) -> list[Instrumented]:
    """Plan and prove each program, run all of them before and after in one process; raises where a proof fails."""
    with tempfile.TemporaryDirectory(prefix="forms-") as top:
        done, jobs = [], []
        for program in programs:
            original = {name: text.encode() for name, text in program.files.items()}
            folders = [Path(top, program.name, side) for side in ("before", "after")]
            _write(folders[0], original)
            plan, files = planned(folders[0])
            _write(folders[1], {**original, **files})
            done.append(Instrumented(program, plan, {**original, **files}))
            jobs += [{"folder": str(folder), "main": "main.py", "env": program.env} for folder in folders]
        results = run(jobs, Path(top))
        for index, item in enumerate(done):
            item.before, item.after = results[2 * index : 2 * index + 2]
        return done


def planned(folder: Path) -> tuple[Plan, dict[str, bytes]]:
    """The proved plan for a folder, and the files that it changes."""
    repo = Repository(folder)
    plan = make_plan(repo)
    prove(repo, plan, make_plan)
    return plan, {change.path: change.after for change in changes(repo, plan)}


def run(jobs: list[dict[str, Any]], top: Path) -> list[dict[str, Any]]:
    """What each job printed and sent."""
    (top / "jobs.json").write_text(json.dumps(jobs))
    subprocess.run(
        [sys.executable, str(HERE / "runner.py"), str(DOUBLES), str(top / "jobs.json"), str(top / "out.json")],
        check=True, timeout=300,
    )  # fmt: skip
    result: list[dict[str, Any]] = json.loads((top / "out.json").read_text())
    return result


def faults(item: Instrumented) -> list[str]:
    """What is wrong with an instrumented program, in words; empty where it does as it should."""
    before, after, words = item.before, item.after, item.program.words
    wrong = []
    for what in ("stdout", "code", "calls", "runs"):
        if before[what] != after[what]:
            wrong.append(f"{what} differs: {before[what]!r} became {after[what]!r}")
    if "Probe " in after["stderr"]:
        wrong.append(f"Probe said: {after['stderr'][-300:]}")
    if before["code"] == 0 and before["stderr"]:
        wrong.append(f"the program itself complains: {before['stderr'][-400:]}")
    theirs = [sorted(map(tuple, run["series"])) for run in before["runs"] if run["series"]]
    ours = [sorted(map(tuple, run["series"])) for run in after["probe"] if run["series"]]
    spoken = [n for n in item.plan.notes if n.level in ("question", "refusal")] or [
        s for s in item.plan.sites if s.outcome in ("asked", "refused", "left")
    ]
    if "left" in words:
        if ours:
            wrong.append(f"Probe got {ours}")
    elif "two" in words:
        keys = [sorted({p[0] for p in run}) for run in ours]
        if len(keys) != 1 or keys[0] != sorted({p[0] for run in theirs for p in run} - _NOT_SEEN):
            wrong.append(f"Probe has {ours}")
        if any(p not in {q for run in theirs for q in run} for run in ours for p in run):
            wrong.append(f"Probe got points that no tracker has: {ours}")
    elif "asked" in words:
        if not spoken:
            wrong.append("nothing was asked")
        extra = {p for run in ours for p in run} - {p for run in theirs for p in run}
        if extra:
            wrong.append(f"Probe got what the tracker did not: {sorted(extra)}")
        if ours == theirs and theirs:
            wrong.append("expected to be asked, but the series are equal")
    elif ours != theirs:
        wrong.append(f"the tracker has {theirs}, Probe has {ours}; said: {[n.message for n in item.plan.notes]}")
    if any(run["status"] is None for run in after["probe"]):
        wrong.append("a run was not closed")
    return wrong
