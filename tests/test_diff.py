"""The patch is judged by the real git and the real patch(1), on files that break the previews of other tools."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from instrument.errors import ConflictError, InstrumentError
from instrument.patch.diff import FileChange, changes, git_prefix, patch
from instrument.plan.edits import Edit, NewFile
from instrument.plan.model import Plan
from instrument.repo.scan import Repository

GIT = shutil.which("git")
PATCH = shutil.which("patch")

NOTEBOOK = (
    b'{\n "cells": [\n  {\n   "cell_type": "code",\n   "source": [\n    "x = 1\\n"\n   ]\n  }\n ],\n "nbformat": 4\n}'
)

#: name -> (before, after)
EDGE: dict[str, tuple[bytes, bytes]] = {
    "plain.py": (b"a = 1\nb = 2\nc = 3\n", b"a = 1\nimport probe\nb = 2\nc = 3\n"),
    "crlf.py": (b"a = 1\r\nb = 2\r\n", b"a = 1\r\nimport probe\r\nb = 2\r\n"),
    "cr.py": (b"a = 1\rb = 2\rc = 3\r", b"a = 1\rimport probe\rb = 2\rc = 3\r"),
    "mixed.py": (b"a = 1\nb = 2\r\nc = 3\rd = 4\n", b"a = 1\nb = 2\r\nimport probe\r\nc = 3\rd = 4\n"),
    "formfeed.py": (b"a = 1\n\x0c\nb = 2\x0c\nc = 3\n", b"a = 1\n\x0c\nb = 2\x0c\nimport probe\nc = 3\n"),
    "vt.py": (b"a = '\x0b\x1c\x1d\x1e'\nb = 2\n", b"a = '\x0b\x1c\x1d\x1e'\nimport probe\nb = 2\n"),
    "u2028.py": (
        "a = '\u2028'\nb = '\u0085 \u2029'\n".encode(),
        "a = '\u2028'\nimport probe\nb = '\u0085 \u2029'\n".encode(),
    ),
    "noeol.py": (b"a = 1\nb = 2", b"a = 1\nimport probe\nb = 2"),
    "noeol_append.py": (b"a = 1\nb = 2", b"a = 1\nb = 2\nimport probe"),
    "noeol_lost.py": (b"a = 1\nb = 2\n", b"a = 1\nb = 2\nimport probe"),
    "noeol_one.py": (b"a = 1", b"a = 1; import probe"),
    "eol_gained.py": (b"a = 1\nb = 2", b"a = 1\nb = 2\n"),
    "bom.py": (b"\xef\xbb\xbfa = 1\nb = 2\n", b"\xef\xbb\xbfimport probe\na = 1\nb = 2\n"),
    "latin1.py": (b"# coding: latin-1\na = '\xe9'\nb = 2\n", b"# coding: latin-1\na = '\xe9'\nimport probe\nb = 2\n"),
    "only.py": (b"\n", b"import probe\n"),
    "empty.py": (b"", b"import probe\n"),
    "emptied.sh": (b"export A=1\nexport B=2\n", b"export B=2\n"),
    'q"uote.py': (b"a = 1\n", b"a = 1\nimport probe\n"),
    "tab\tname.py": (b"a = 1\n", b"a = 1\nimport probe\n"),
    "back\\slash.py": (b"a = 1\n", b"a = 1\nimport probe\n"),
    "with space.py": (b"a = 1\n", b"a = 1\nimport probe\n"),
    "tr\u00e4iner \u8bad\u7ec3.py": (b"a = 1\n", b"a = 1\nimport probe\n"),
    'quote space".py': (b"a = 1\n", b"a = 1\nimport probe\n"),
    "new\nline.py": (b"a = 1\n", b"a = 1\nimport probe\n"),
    "sub folder/deep/x.py": (b"a = 1\n", b"a = 1\nimport probe\n"),
    "-dash.py": (b"a = 1\n", b"a = 1\nimport probe\n"),
    "note.ipynb": (NOTEBOOK, NOTEBOOK.replace(b'"x = 1\\n"', b'"x = 1\\n",\n    "import probe"')),
    "markers.py": (b"--- a\n+++ b\n@@ -1 +1 @@\n", b"--- a\n-- x\n+++ b\n@@ -1 +1 @@\n"),
}
NEW = {
    "probe_tracking.py": b"import probe\n",
    "pkg/new file.py": b"x = 1\n\n",
    "pkg/no_eol.py": b"x = 1",
    "pkg/__init__.py": b"",
}


def git(root: Path, *arguments: str, data: bytes | None = None) -> bytes:
    done = subprocess.run(
        ["git", "-c", "core.autocrlf=false", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments],
        cwd=root,
        input=data,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode() + (data or b"").decode("utf-8", "replace")
    return done.stdout


def write(root: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


def edge_changes(root: Path) -> list[FileChange]:
    found = [FileChange(path=name, before=before, after=after) for name, (before, after) in EDGE.items()]
    return found + [FileChange(path=name, before=None, after=data) for name, data in NEW.items()]


def edge_repo(root: Path) -> dict[str, bytes]:
    before = {name: data for name, (data, _) in EDGE.items()}
    write(root, before)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    return before


AFTER = {name: data for name, (_, data) in EDGE.items()} | NEW


@pytest.mark.skipif(GIT is None, reason="git is not installed")
def test_git_checks_applies_and_reverses_the_patch_of_every_edge_file(tmp_path: Path) -> None:
    before = edge_repo(tmp_path)
    data = patch(edge_changes(tmp_path))
    git(
        tmp_path,
        "apply",
        "--check",
        "--whitespace=error-all",
        "-",
        data=patch([c for c in edge_changes(tmp_path) if c.path == "plain.py"]),
    )
    git(tmp_path, "apply", "--check", "-", data=data)
    git(tmp_path, "apply", "-", data=data)
    assert contents(tmp_path) == AFTER
    git(tmp_path, "apply", "-R", "-", data=data)
    assert contents(tmp_path) == before
    assert git(tmp_path, "status", "--porcelain") == b""


@pytest.mark.skipif(GIT is None, reason="git is not installed")
@pytest.mark.parametrize("name", [*EDGE, *NEW])
def test_each_edge_file_alone(tmp_path: Path, name: str) -> None:
    before, after = EDGE.get(name, (None, b"")) if name in EDGE else (None, NEW[name])
    if before is not None:
        write(tmp_path, {name: before})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    data = patch([FileChange(path=name, before=before, after=after)])
    git(tmp_path, "apply", "--check", "--index", "-", data=data)
    git(tmp_path, "apply", "-", data=data)
    assert contents(tmp_path) == {name: after}
    git(tmp_path, "apply", "-R", "-", data=data)
    assert contents(tmp_path) == ({} if before is None else {name: before})


#: GNU patch refuses names with a newline by design (CVE-2015-1196 and its kin), and has no notion of an empty new file
#: without git's index line.
@pytest.mark.skipif(PATCH is None, reason="patch is not installed")
@pytest.mark.parametrize("name", [name for name in [*EDGE, *NEW] if "\n" not in name])
def test_gnu_patch_takes_it_too(tmp_path: Path, name: str) -> None:
    before, after = EDGE[name] if name in EDGE else (None, NEW[name])
    if before is not None:
        write(tmp_path, {name: before})
    data = patch([FileChange(path=name, before=before, after=after)])
    done = subprocess.run(["patch", "-p1", "-s"], cwd=tmp_path, input=data, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout.decode() + data.decode("utf-8", "replace")
    assert contents(tmp_path) == {name: after}
    done = subprocess.run(["patch", "-p1", "-s", "-R"], cwd=tmp_path, input=data, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stdout.decode()
    assert contents(tmp_path) == ({} if before is None else {name: before})


@pytest.mark.skipif(GIT is None, reason="git is not installed")
def test_the_executable_bit_stays_and_no_mode_line_is_written(tmp_path: Path) -> None:
    write(tmp_path, {"run.sh": b"#!/bin/sh\npython train.py\n"})
    (tmp_path / "run.sh").chmod(0o755)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    repo = Repository(tmp_path)
    plan = Plan(root=str(tmp_path), edits=[_insert("run.sh", 10, "export PROBE_MODE=offline\n")])
    (change,) = changes(repo, plan)
    assert change.mode == 0o755
    data = patch([change])
    assert b"mode" not in data
    git(tmp_path, "apply", "--index", "-", data=data)
    assert stat.S_IMODE(os.stat(tmp_path / "run.sh").st_mode) == 0o755


@pytest.mark.skipif(GIT is None, reason="git is not installed")
def test_paths_are_relative_to_the_git_root_when_a_subfolder_is_planned(tmp_path: Path) -> None:
    write(tmp_path, {"some dir/train.py": b"a = 1\n"})
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    repo = Repository(tmp_path / "some dir")
    plan = Plan(root=".", edits=[_insert("train.py", 0, "import probe\n")])
    prefix = git_prefix(repo)
    assert prefix == "some dir/"
    data = patch(changes(repo, plan), prefix)
    assert data.startswith(b"diff --git a/some dir/train.py b/some dir/train.py\n--- a/some dir/train.py\t\n")
    git(tmp_path, "apply", "-", data=data)
    assert (tmp_path / "some dir/train.py").read_bytes() == b"import probe\na = 1\n"
    assert git_prefix(Repository(tmp_path)) == ""


def test_a_folder_outside_git_has_no_prefix(tmp_path: Path) -> None:
    assert git_prefix(Repository(tmp_path)) == ""


@pytest.mark.skipif(GIT is None, reason="git is not installed")
def test_random_changes_apply_and_reverse(tmp_path: Path) -> None:
    """Many repeated lines, changes at the ends and near each other: where hunks touch and counts go wrong."""
    pick = random.Random(7)
    before, after = {}, {}
    for number in range(120):
        old = [pick.choice([b"", b"x = 1", b"y\r", b"\x0c", b"z"]) for _ in range(pick.randrange(0, 40))]
        new = list(old)
        for _ in range(pick.randrange(1, 6)):
            place = pick.randrange(len(new) + 1)
            if pick.random() < 0.7:
                new[place:place] = [pick.choice([b"probe", b"x = 1", b""])] * pick.randrange(1, 4)
            else:
                del new[place : place + pick.randrange(3)]
        name = f"f{number}.py"
        before[name] = b"\n".join(old) + (b"\n" if pick.random() < 0.7 else b"")
        after[name] = b"\n".join(new) + (b"\n" if pick.random() < 0.7 else b"")
    write(tmp_path, before)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    data = patch([FileChange(path=name, before=before[name], after=after[name]) for name in sorted(before)])
    git(tmp_path, "apply", "-", data=data)
    assert contents(tmp_path) == after
    git(tmp_path, "apply", "-R", "-", data=data)
    assert contents(tmp_path) == before


def test_the_diff_is_the_shortest_and_takes_no_time_on_a_large_file() -> None:
    lines = [b"line %d\n" % (n % 50) for n in range(200_000)]
    new = [*lines[:10], b"import probe\n", *lines[10:100_000], b"probe.log(m)\n", *lines[100_000:], b"probe.finish()\n"]
    data = patch([FileChange(path="a.py", before=b"".join(lines), after=b"".join(new))])
    assert [line for line in data.split(b"\n") if line.startswith((b"+", b"-"))] == [
        b"--- a/a.py",
        b"+++ b/a.py",
        b"+import probe",
        b"+probe.log(m)",
        b"+probe.finish()",
    ]


def test_a_rewritten_file_falls_back_and_still_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instrument.patch.diff._MAX_EXACT", 3)
    before = b"".join(b"%d\n" % n for n in range(50))
    after = b"".join(b"%d\n" % (n * 2) for n in range(50))
    write(tmp_path, {"a.txt": before})
    data = patch([FileChange(path="a.txt", before=before, after=after)])
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=data, check=True, timeout=60)
    assert (tmp_path / "a.txt").read_bytes() == after


def test_the_text_of_a_patch() -> None:
    made = patch(
        [
            FileChange(path="a b.py", before=b"x\ny", after=b"x\nz"),
            FileChange(path='q"\u00e9\x01.py', before=None, after=b"n\n"),
            FileChange(path="same.py", before=b"x", after=b"x"),
        ]
    )
    assert made == (
        b"diff --git a/a b.py b/a b.py\n--- a/a b.py\t\n+++ b/a b.py\t\n@@ -1,2 +1,2 @@\n x\n"
        b"-y\n\\ No newline at end of file\n+z\n\\ No newline at end of file\n"
        b'diff --git "a/q\\"\xc3\xa9\\001.py" "b/q\\"\xc3\xa9\\001.py"\nnew file mode 100644\n'
        b'--- /dev/null\n+++ "b/q\\"\xc3\xa9\\001.py"\n@@ -0,0 +1 @@\n+n\n'
    )


def _insert(path: str, at: int, text: str, **more: object) -> Edit:
    return Edit(path=path, start=at, end=at, text=text, reason="r", rule="t", **more)  # type: ignore[arg-type]


class TestChanges:
    def test_edits_are_grouped_ordered_and_rendered_and_new_files_encoded(self, tmp_path: Path) -> None:
        write(tmp_path, {"b.py": b"b = 1\n", "a.py": "# \u00e9\na = 1\n".encode()})
        plan = Plan(
            root=".",
            edits=[
                _insert("b.py", 6, "c\n"),
                _insert("a.py", 4, "two\n"),
                _insert("b.py", 0, "z\n"),
                _insert("a.py", 0, "one\n"),
            ],
            new_files=[NewFile(path="probe_tracking.py", text="# \u00e9\n", reason="r", rule="t")],
        )
        found = changes(Repository(tmp_path), plan)
        assert [(c.path, c.before, c.after) for c in found] == [
            ("a.py", "# \u00e9\na = 1\n".encode(), "one\n# \u00e9\ntwo\na = 1\n".encode()),
            ("b.py", b"b = 1\n", b"z\nb = 1\nc\n"),
            ("probe_tracking.py", None, "# \u00e9\n".encode()),
        ]

    def test_an_edit_that_changes_nothing_is_no_change(self, tmp_path: Path) -> None:
        write(tmp_path, {"a.py": b"a = 1\n", "new.py": b"n\n"})
        same = Edit(path="a.py", start=0, end=1, text="a", reason="r", rule="t")
        new = NewFile(path="new.py", text="n\n", reason="r", rule="t")
        assert changes(Repository(tmp_path), Plan(root=".", edits=[same], new_files=[new])) == []

    def test_a_source_that_changed_since_is_refused(self, tmp_path: Path) -> None:
        write(tmp_path, {"a.py": b"a = 1\n"})
        plan = Plan(root=".", edits=[_insert("a.py", 0, "x\n")], hashes={"a.py": "0" * 64})
        with pytest.raises(ConflictError, match=r"a\.py: changed since it was planned"):
            changes(Repository(tmp_path), plan)

    def test_a_new_file_that_is_there_with_other_content_is_refused_unless_it_is_the_one_replaced(
        self, tmp_path: Path
    ) -> None:
        write(tmp_path, {"n.py": b"old\n"})
        new = NewFile(path="n.py", text="new\n", reason="r", rule="t")
        with pytest.raises(ConflictError, match="is there already"):
            changes(Repository(tmp_path), Plan(root=".", new_files=[new]))
        newer = NewFile(path="n.py", text="new\n", reason="r", rule="t", replaces="old\n")
        (change,) = changes(Repository(tmp_path), Plan(root=".", new_files=[newer]))
        assert (change.before, change.after) == (b"old\n", b"new\n")

    def test_overlaps_a_file_both_created_and_changed_and_a_span_outside_are_refused(self, tmp_path: Path) -> None:
        write(tmp_path, {"a.py": b"abcdef\n"})
        repo = Repository(tmp_path)
        one = Edit(path="a.py", start=0, end=3, text="x", reason="r", rule="t")
        two = Edit(path="a.py", start=2, end=4, text="y", reason="r", rule="t")
        with pytest.raises(ConflictError, match="same text"):
            changes(repo, Plan(root=".", edits=[one, two]))
        new = NewFile(path="a.py", text="new\n", reason="r", rule="t")
        with pytest.raises(ConflictError, match="both created and changed"):
            changes(repo, Plan(root=".", edits=[one], new_files=[new]))
        with pytest.raises(InstrumentError, match="outside the file"):
            changes(repo, Plan(root=".", edits=[_insert("a.py", 99, "x")]))
