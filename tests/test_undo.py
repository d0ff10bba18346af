"""Taking back: the same bytes and modes, no trace, and never over somebody's later work."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from instrument.errors import ConflictError, InstrumentError
from instrument.patch.undo import applied, undo
from instrument.patch.write import apply
from instrument.plan.edits import Edit, NewFile
from instrument.plan.model import Plan
from instrument.repo.scan import Repository

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

#: What is said of a path that reaches out of the repository or into git's own files.
REACH = r"inside the repository|nothing is ever written"

Tree = dict[str, tuple[bytes | None, int]]


def insert(path: str, at: int, text: str) -> Edit:
    return Edit(path=path, start=at, end=at, text=text, reason="r", rule="t")


def new(path: str, text: str = "n\n") -> NewFile:
    return NewFile(path=path, text=text, reason="r", rule="t")


def tree(root: Path) -> Tree:
    found: Tree = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if not name.startswith(".git/") or name.startswith(".git/instrument"):
            found[name] = (path.read_bytes() if path.is_file() else None, stat.S_IMODE(path.lstat().st_mode))
    found.pop(".git", None)
    return found


def git(root: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True, timeout=60)


@pytest.fixture(params=["plain", pytest.param("git", marks=needs_git)])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "train.py").write_bytes(b"\xef\xbb\xbfa = '\xc3\xa9'\r\nb = 2")
    (tmp_path / "pkg/loop.py").write_bytes(b"b = 1\n")
    (tmp_path / "run.sh").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "run.sh").chmod(0o750)
    if request.param == "git":
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "x")
    return tmp_path


def first() -> Plan:
    return Plan(
        root=".",
        edits=[insert("train.py", 0, "import probe\r\n"), insert("run.sh", 10, "x=1\n")],
        new_files=[new("pkg/made/here/probe_tracking.py"), new("empty.py", "")],
    )


def test_the_tree_is_the_same_again_without_a_trace(root: Path) -> None:
    before = tree(root)
    apply(Repository(root), first())
    assert tree(root) != before
    manifest = undo(root)
    assert tree(root) == before
    assert sorted(f.path for f in manifest.files) == [
        "empty.py",
        "pkg/made/here/probe_tracking.py",
        "run.sh",
        "train.py",
    ]
    with pytest.raises(InstrumentError, match="there is nothing to undo"):
        undo(root)
    assert tree(root) == before


def test_several_applies_are_undone_one_at_a_time(root: Path) -> None:
    trees = [tree(root)]
    for text in ("one\n", "two\n", "three\n"):
        apply(
            Repository(root), Plan(root=".", edits=[insert("pkg/loop.py", 0, text)], new_files=[new(text[:3] + ".py")])
        )
        trees.append(tree(root))
    assert [m.number for m in applied(root)] == [3, 2, 1]
    for expected in reversed(trees[:-1]):
        undo(root)
        assert tree(root) == expected


@pytest.mark.parametrize("path", ["train.py", "run.sh", "empty.py"])
def test_a_file_that_changed_since_is_named_and_nothing_is_done(root: Path, path: str) -> None:
    before = tree(root)
    apply(Repository(root), first())
    kept = (root / path).read_bytes()
    (root / path).write_bytes(kept + b"# mine\n")
    after = tree(root)
    with pytest.raises(ConflictError, match="changed since it was written") as caught:
        undo(root)
    assert caught.value.path == path
    assert tree(root) == after
    (root / path).write_bytes(kept)
    undo(root)
    assert tree(root) == before


def test_a_changed_file_that_was_removed_is_refused_a_created_one_is_fine(root: Path) -> None:
    apply(Repository(root), first())
    (root / "empty.py").unlink()
    shutil.rmtree(root / "pkg/made")
    kept = (root / "train.py").read_bytes()
    (root / "train.py").unlink()
    with pytest.raises(ConflictError) as caught:
        undo(root)
    assert caught.value.path == "train.py"
    (root / "train.py").write_bytes(kept)
    undo(root)
    assert (root / "train.py").read_bytes() == b"\xef\xbb\xbfa = '\xc3\xa9'\r\nb = 2"


def test_a_file_that_somebody_put_back_already_is_fine(root: Path) -> None:
    before = tree(root)
    apply(Repository(root), first())
    (root / "train.py").write_bytes(b"\xef\xbb\xbfa = '\xc3\xa9'\r\nb = 2")
    undo(root)
    assert tree(root) == before


def test_a_made_folder_with_somebodys_file_in_it_stays(root: Path) -> None:
    apply(Repository(root), first())
    (root / "pkg/made/mine.txt").write_bytes(b"m")
    undo(root)
    assert (root / "pkg/made/mine.txt").read_bytes() == b"m"
    assert not (root / "pkg/made/here").exists()


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_a_mode_that_was_changed_since_is_kept(root: Path) -> None:
    apply(Repository(root), first())
    (root / "run.sh").chmod(0o700)
    undo(root)
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o700


@pytest.mark.skipif(os.name == "nt", reason="links are POSIX")
def test_a_file_that_became_a_link_is_refused(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    apply(Repository(root), first())
    outside = tmp_path_factory.mktemp("outside") / "x.py"
    shutil.move(root / "train.py", outside)
    (root / "train.py").symlink_to(outside)
    kept = outside.read_bytes()
    with pytest.raises(InstrumentError, match="symbolic link"):
        undo(root)
    assert outside.read_bytes() == kept


def test_a_single_file_is_its_folder(root: Path) -> None:
    before = tree(root)
    apply(Repository(root / "train.py"), Plan(root=".", edits=[insert("train.py", 0, "x\n")]))
    undo(root / "train.py")
    assert tree(root) == before


@needs_git
class TestFoldersOfOneGitRepository:
    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "train.py").write_bytes(b"a = 1\n")
        git(tmp_path, "init", "-q")
        return tmp_path

    def test_undo_takes_the_newest_below_the_folder_that_is_named(self, root: Path) -> None:
        before = tree(root)
        apply(Repository(root / "one"), Plan(root=".", edits=[insert("train.py", 0, "x\n")]))
        apply(Repository(root / "two"), Plan(root=".", edits=[insert("train.py", 0, "y\n")]))
        assert len(applied(root)) == 2 and len(applied(root / "one")) == 1
        manifest = undo(root / "one")
        assert (manifest.number, manifest.prefix) == (1, "one/")
        with pytest.raises(InstrumentError, match="nothing to undo"):
            undo(root / "one")
        assert undo(root).prefix == "two/"
        assert tree(root) == before

    def test_an_apply_that_wrote_below_both_is_undone_from_either(self, root: Path) -> None:
        apply(Repository(root / "one"), Plan(root=".", edits=[insert("train.py", 0, "x\n")]))
        apply(
            Repository(root), Plan(root=".", edits=[insert("one/train.py", 0, "y\n"), insert("two/train.py", 0, "y\n")])
        )
        assert undo(root / "two").number == 2
        assert undo(root / "two" / "..").number == 1

    def test_git_made_after_an_apply_without_it(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        root = tmp_path_factory.mktemp("late")
        (root / "train.py").write_bytes(b"a = 1\n")
        before = tree(root)
        apply(Repository(root), Plan(root=".", edits=[insert("train.py", 0, "x\n")]))
        git(root, "init", "-q")
        undo(root)
        assert tree(root) == before

    def test_a_linked_work_tree_has_its_own(self, root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
        git(root, "add", "-A")
        git(root, "commit", "-qm", "x")
        other = tmp_path_factory.mktemp("tree") / "w"
        git(root, "worktree", "add", "-q", str(other))
        apply(Repository(other / "one"), Plan(root=".", edits=[insert("train.py", 0, "x\n")]))
        assert (root / ".git/worktrees/w/instrument").is_dir()
        with pytest.raises(InstrumentError, match="nothing to undo"):
            undo(root)
        (other / "one/train.py").write_bytes(b"mine\n")
        with pytest.raises(ConflictError, match="<git dir>/instrument/applies/0001/before"):
            undo(other)


class TestHostileJournal:
    """A repository may bring a journal of its own along: it reaches no further than the repository."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        root = tmp_path / "repo"
        (root / ".instrument/applies/0001/before").mkdir(parents=True)
        (root / ".instrument/applies/0001/before/0").write_bytes(b"evil\n")
        (tmp_path / "outside.py").write_bytes(b"o\n")
        return root

    def manifest(self, root: Path, **more: object) -> None:
        document = {
            "schema": "instrument.apply/1",
            "state": "applying",
            "prefix": "",
            "files": [],
            "folders": [],
            **more,
        }
        (root / ".instrument/applies/0001/manifest.json").write_text(json.dumps(document))

    @pytest.mark.parametrize("path", ["../outside.py", "/etc/passwd", ".git/config", "a/../../outside.py"])
    def test_a_path_that_leaves_the_repository(self, root: Path, path: str) -> None:
        evil = {"path": path, "before": "0" * 64, "after": "f3c57b2e1f3a66a28a7b0d6cbd2d4a1c4a5d4d7a"}
        self.manifest(root, files=[evil])
        with pytest.raises(InstrumentError, match=REACH):
            undo(root)
        self.manifest(root, files=[evil | {"path": path.rsplit("/", 1)[1]}], prefix=path.rsplit("/", 1)[0] + "/")
        with pytest.raises(InstrumentError, match=REACH):
            undo(root)
        assert (root.parent / "outside.py").read_bytes() == b"o\n"

    @pytest.mark.parametrize("path", ["../x", ".git"])
    def test_a_folder_that_leaves_the_repository(self, root: Path, path: str) -> None:
        (root.parent / "x").mkdir()
        self.manifest(root, folders=[path])
        with pytest.raises(InstrumentError, match=REACH):
            undo(root)
        assert (root.parent / "x").is_dir()

    @pytest.mark.parametrize(
        "more",
        [
            {"schema": "other"},
            {"state": "new"},
            {"files": 3},
            {"files": [{"path": 3, "before": None, "after": "x"}]},
            {"files": [{"path": "a", "before": 1, "after": "x"}]},
            {"folders": [None]},
            {"prefix": 7},
        ],
    )
    def test_a_manifest_that_is_none(self, root: Path, more: dict[str, object]) -> None:
        self.manifest(root, **more)
        with pytest.raises(InstrumentError, match=r"\.instrument/applies/0001/manifest\.json: can't be read"):
            undo(root)

    def test_bytes_that_are_not_the_ones_kept(self, root: Path) -> None:
        (root / "train.py").write_bytes(b"t\n")
        after = hashlib.sha256(b"t\n").hexdigest()
        self.manifest(root, state="done", files=[{"path": "train.py", "before": "0" * 64, "after": after}])
        with pytest.raises(InstrumentError, match=r"train\.py: the copy of it that was kept is damaged"):
            undo(root)
        assert (root / "train.py").read_bytes() == b"t\n"
