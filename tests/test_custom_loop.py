"""Loops without a tracker, by folders: tests/shapes/custom_loop/<name>/before is a program, after its edited files.

A folder without `after` must not change. Each program that is edited runs before and after, with a recording stand-in
for the SDK and the module that the plan writes: it prints the same, ends the same way, and its points are those in
`points.json`: each key at each step once, every run closed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from instrument.patch.proofs import prove
from instrument.plan.edits import ordered
from instrument.plan.model import Plan
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository
from tests import cases

ROOT = Path(__file__).with_name("shapes") / "custom_loop"
DOUBLES = Path(__file__).with_name("doubles")
FOLDERS = sorted(path.parent for path in ROOT.glob("*/before"))
EDITED = [folder for folder in FOLDERS if (folder / "after").exists()]
LEFT = [folder for folder in FOLDERS if folder not in EDITED]
RULE = "custom_loop"


def results(repo: Repository, plan: Plan) -> dict[str, str]:
    """The text of each edited file."""
    paths = sorted({edit.path for edit in plan.edits})
    return {p: repo.source(p).render(ordered(e for e in plan.edits if e.path == p)).decode() for p in paths}


def files(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


def copy(folder: Path, to: Path) -> Path:
    return Path(shutil.copytree(folder / "before", to, ignore=shutil.ignore_patterns("__pycache__")))


def run(root: Path, record: Path) -> tuple[str, int]:
    """(what the program in a folder prints, its exit code); its runs are in `record`."""
    scripts = [p for p in sorted(root.glob("*.py")) if p.name not in ("probe_tracking.py", "recorder.py")]
    assert len(scripts) == 1, scripts
    environment = {
        "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([str(DOUBLES / "sdk"), str(DOUBLES / "training")]),
        "PYTHONDONTWRITEBYTECODE": "1", "PROBE_DOUBLE": str(record), "HOME": str(root),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-S", scripts[0].name], cwd=root, env=environment, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert "Probe " not in done.stderr, done.stderr
    return done.stdout + done.stderr.replace(str(root), ""), done.returncode


def recorded(record: Path) -> list[dict[str, Any]]:
    """The runs that were recorded, with the points of each key in order."""
    runs = []
    for line in record.read_text().splitlines() if record.exists() else ():
        made = json.loads(line)
        points: dict[str, list[list[float]]] = {}
        for key, step, value in made["points"]:
            points.setdefault(key, []).append([step, round(value, 6)])
        runs.append({"config": made["config"], "points": points, "status": made["status"]})
    return runs


def test_most_programs_are_left_alone() -> None:
    assert len(LEFT) > len(EDITED) >= 25


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_plan(folder: Path, tmp_path: Path) -> None:
    repo = Repository(copy(folder, tmp_path / "repo"))
    plan = make_plan(repo)
    own = [edit for edit in plan.edits if edit.rule == RULE]
    assert all(edit.applicability == "review" and edit.reason for edit in own)
    said = [[note.code, note.path, note.line] for note in plan.notes if note.level in ("question", "refusal")]
    notes = folder / "notes.json"
    assert [n for n in said if n[0] != "package-not-declared"] == (
        json.loads(notes.read_text()) if notes.exists() else []
    )
    if folder in LEFT:
        assert own == []
        return
    assert results(repo, plan) == files(folder / "after")
    assert plan.shapes.get(RULE) is not None
    assert {site.kind for site in plan.sites if site.rule == RULE and site.outcome == "covered"} == {"open", "emit"}
    prove(repo, plan, make_plan)


@pytest.mark.parametrize("folder", EDITED, ids=lambda folder: folder.name)
def test_run(folder: Path, tmp_path: Path) -> None:
    if list((folder / "before").glob("*.ipynb")):
        pytest.skip("notebooks are run by their own tests")
    before, after = copy(folder, tmp_path / "before"), copy(folder, tmp_path / "after")
    code, report = cases.instrument("apply", str(after), "--yes")
    assert code == 0, report
    record = tmp_path / "record.jsonl"
    was = run(before, record)
    assert not record.exists()
    assert run(after, record) == was
    runs = recorded(record)
    for made in runs:
        for key, points in made["points"].items():
            steps = [step for step, _ in points]
            assert steps == sorted(set(steps)), f"{key} comes twice at a step, or goes back: {steps}"
    expected = folder / "points.json"
    assert runs == json.loads(expected.read_text())
    # Again changes nothing, and back is back.
    edited = files(after)
    cases.instrument("apply", str(after), "--yes")
    assert files(after) == edited
    cases.instrument("undo", str(after))
    kept = {path for path in files(after) if not path.endswith((".log", ".pt", ".jsonl", ".txt"))}
    assert {path: files(after)[path] for path in kept} == files(folder / "before")


def test_other_ranks_open_nothing(tmp_path: Path) -> None:
    root = copy(ROOT / "rank_guard", tmp_path / "repo")
    assert cases.instrument("apply", str(root), "--yes")[0] == 0
    environment = {
        "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([str(DOUBLES / "sdk"), str(DOUBLES / "training")]),
        "PROBE_DOUBLE": str(tmp_path / "record"), "RANK": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "train_gpt.py"],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == done.stderr == ""
    assert not (tmp_path / "record").exists()


def test_without_the_sdk_the_program_goes_on(tmp_path: Path) -> None:
    root = copy(ROOT / "trainer_class", tmp_path / "repo")
    assert cases.instrument("apply", str(root), "--yes")[0] == 0
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(DOUBLES / "training")}
    done = subprocess.run(
        [sys.executable, "-S", "trainer.py"],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "epoch 1 done" in done.stdout
    assert done.stderr.count("Probe is off") == 1
