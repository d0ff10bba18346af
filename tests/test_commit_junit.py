"""`apply --commit` commits what it wrote and nothing else; `check --junit` is what CI servers read."""

from __future__ import annotations

import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests import cases


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True, timeout=60).stdout


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "t")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "t@example.org")
    (tmp_path / "train.py").write_text(
        "import wandb\n\nwandb.init()\nfor i in range(2):\n    wandb.log({'a': i}, step=i)\n"
    )
    (tmp_path / "notes.txt").write_text("one\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_one_commit_with_the_edits_and_nothing_else(root: Path) -> None:
    (root / "notes.txt").write_text("two\n")
    git(root, "add", "notes.txt")
    code, said = cases.instrument("apply", str(root), "--yes", "--commit", "--quiet")
    assert code == 0, said
    assert git(root, "log", "--format=%s").splitlines() == ["Send the trainer's metrics to Probe as well", "first"]
    assert git(root, "show", "--format=", "--name-only").split() == ["probe_tracking.py", "train.py"]
    assert "train.py:5: send to Probe what wandb.log sends" in git(root, "log", "-1", "--format=%b")
    assert git(root, "status", "--short").split() == ["M", "notes.txt"]


def test_without_git_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import wandb\nwandb.init()\n")
    code, said = cases.instrument("apply", str(tmp_path), "--yes", "--commit")
    assert code == 2 and "git" in said
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]


def test_a_hook_that_refuses_is_told_and_the_files_are_written(root: Path) -> None:
    hook = root / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\necho 'not on a Friday' >&2\nexit 1\n")
    hook.chmod(0o755)
    code, said = cases.instrument("apply", str(root), "--yes", "--commit")
    assert code == 2 and "not on a Friday" in said and "Traceback" not in said
    assert (root / "probe_tracking.py").exists()
    assert cases.instrument("undo", str(root))[0] == 0
    assert not (root / "probe_tracking.py").exists()


def test_junit_fails_what_is_not_recorded_and_passes_what_is(root: Path) -> None:
    target = root.parent / "junit.xml"
    (root / "b <\x1b>.py").write_text("import wandb\nwandb.init()\nwandb.log(*[{'a': 1}])\n")
    assert cases.instrument("check", str(root), "--junit", str(target), "--quiet")[0] == 1
    suite = ElementTree.parse(target).getroot()
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert "train.py" in failed and suite.get("failures") == str(len(failed))
    assert any(case.find("skipped") is not None for case in suite)
    assert cases.instrument("apply", str(root), "--yes", "--allow-dirty")[0] == 0
    cases.instrument("check", str(root), "--junit", str(target), "--quiet")
    again = ElementTree.parse(target).getroot()
    assert again.get("failures") == "0"
    assert "train.py" in [case.get("name") for case in again if len(case) == 0]
