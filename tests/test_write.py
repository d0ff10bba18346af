"""Writing is all or nothing: failures are injected at every system call, and kills by leaving the process there."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from instrument.errors import ConflictError, InstrumentError
from instrument.patch.journal import Journal, check_path
from instrument.patch.undo import applied, undo
from instrument.patch.write import apply, dirty
from instrument.plan.edits import Edit, NewFile
from instrument.plan.model import Plan
from instrument.repo.scan import Repository

posix = pytest.mark.skipif(os.name == "nt", reason="fork, modes and links are POSIX")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

BEFORE = {"train.py": b"a = 1\n", "pkg/loop.py": b"b = 1\r\nc = 2", "run.sh": b"#!/bin/sh\npython train.py\n"}
AFTER = {
    "train.py": b"import probe\na = 1\n",
    "pkg/loop.py": b"b = 1\r\nprobe.log(b)\r\nc = 2",
    "run.sh": b"#!/bin/sh\nexport PROBE_MODE=offline\npython train.py\n",
    "pkg/new/deep/probe_tracking.py": b"import probe\n",
    "probe_tracking.py": b"x = 1\n",
}


def insert(path: str, at: int, text: str) -> Edit:
    return Edit(path=path, start=at, end=at, text=text, reason="r", rule="t")


def plan(root: Path) -> Plan:
    made = Plan(
        root=str(root),
        edits=[
            insert("train.py", 0, "import probe\n"),
            insert("pkg/loop.py", 7, "probe.log(b)\r\n"),
            insert("run.sh", 10, "export PROBE_MODE=offline\n"),
        ],
        new_files=[
            NewFile(path="pkg/new/deep/probe_tracking.py", text="import probe\n", reason="r", rule="t"),
            NewFile(path="probe_tracking.py", text="x = 1\n", reason="r", rule="t"),
        ],
    )
    made.hashes = {path: Repository(root).source(path).sha256 for path in BEFORE}
    return made


def fill(root: Path) -> Path:
    for name, data in BEFORE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    (root / "run.sh").chmod(0o755)
    return root


@pytest.fixture(params=["plain", pytest.param("git", marks=needs_git)])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    fill(tmp_path)
    if request.param == "git":
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "x")
    return tmp_path


def git(root: Path, *arguments: str) -> bytes:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.autocrlf=false", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, timeout=60).stdout


def tree(root: Path) -> dict[str, bytes | None]:
    """Every file and folder outside `.git`, and what of ours is in `.git`."""
    found: dict[str, bytes | None] = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name == ".git" or (name.startswith(".git/") and not name.startswith(".git/instrument")):
            continue
        found[name] = path.read_bytes() if path.is_file() else None
    return found


def files(root: Path) -> dict[str, bytes | None]:
    return {
        name: data
        for name, data in tree(root).items()
        if data is not None and not name.startswith((".git/", ".instrument/"))
    }


def test_every_file_is_written_with_its_mode_and_the_rest_is_left(root: Path) -> None:
    (root / "other.py").write_bytes(b"o\n")
    os.utime(root / "other.py", ns=(1, 1))
    manifest = apply(Repository(root), plan(root))
    assert files(root) == {**AFTER, "other.py": b"o\n"}
    assert sorted(written.path for written in manifest.files) == sorted(AFTER)
    assert os.stat(root / "other.py").st_mtime_ns == 1
    if os.name != "nt":
        assert stat.S_IMODE(os.stat(root / "run.sh").st_mode) == 0o755
    undo(root)


@posix
def test_a_new_file_takes_the_umask_and_a_read_only_file_stays_so(root: Path) -> None:
    (root / "train.py").chmod(0o444)
    old = os.umask(0o027)
    try:
        apply(Repository(root), plan(root))
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(root / "probe_tracking.py").st_mode) == 0o640
    assert stat.S_IMODE(os.stat(root / "train.py").st_mode) == 0o444


def test_a_plan_that_changes_nothing_leaves_nothing(root: Path) -> None:
    before = tree(root)
    assert apply(Repository(root), Plan(root=".")).files == ()
    assert tree(root) == before


@needs_git
def test_the_journal_is_in_the_git_dir_and_git_sees_only_the_change(tmp_path: Path) -> None:
    fill(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    apply(Repository(tmp_path), plan(tmp_path))
    assert (tmp_path / ".git/instrument/applies/0001/manifest.json").is_file()
    assert not (tmp_path / ".instrument").exists()
    status = git(tmp_path, "status", "--porcelain").decode().split("\n")
    assert sorted(filter(None, status)) == [
        " M pkg/loop.py",
        " M run.sh",
        " M train.py",
        "?? pkg/new/",
        "?? probe_tracking.py",
    ]


def test_outside_git_the_journal_ignores_itself_and_holds_no_absolute_path(tmp_path: Path) -> None:
    fill(tmp_path)
    apply(Repository(tmp_path), plan(tmp_path))
    assert (tmp_path / ".instrument/.gitignore").read_bytes() == b"*\n"
    assert not any(name.startswith(".instrument") for name in Repository(tmp_path).files)
    for path in (tmp_path / ".instrument").rglob("*.json"):
        assert str(tmp_path) not in path.read_text()


class TestRefused:
    """Nothing is written, and no trace of the attempt stays."""

    @pytest.fixture
    def refused(self, root: Path) -> Iterator[Callable[[Plan, str], InstrumentError]]:
        def check(made: Plan, message: str, repo: Repository | None = None) -> InstrumentError:
            before = tree(root)
            with pytest.raises(InstrumentError, match=message) as caught:
                apply(repo or Repository(root), made)
            assert tree(root) == before
            return caught.value

        yield check

    def test_a_file_that_changed_since_the_plan(self, root: Path, refused: Any) -> None:
        made = plan(root)
        (root / "pkg/loop.py").write_bytes(b"b = 1\r\nc = 3")
        assert refused(made, "changed since it was planned").path == "pkg/loop.py"

    def test_a_file_that_changed_after_it_was_read(self, root: Path, refused: Any) -> None:
        made, repo = plan(root), Repository(root)
        repo.source("pkg/loop.py")
        (root / "pkg/loop.py").write_bytes(b"b = 1\r\nc = 3")
        assert refused(made, "changed since it was planned", repo).path == "pkg/loop.py"

    def test_a_file_that_is_gone(self, root: Path, refused: Any) -> None:
        made, repo = plan(root), Repository(root)
        repo.source("pkg/loop.py")
        (root / "pkg/loop.py").unlink()
        assert refused(made, "changed since it was planned", repo).path == "pkg/loop.py"

    def test_a_new_file_that_is_there(self, root: Path, refused: Any) -> None:
        made = plan(root)
        (root / "probe_tracking.py").write_bytes(b"theirs\n")
        assert refused(made, "is there already").path == "probe_tracking.py"

    @posix
    def test_a_symbolic_link(self, root: Path, refused: Any) -> None:
        made = plan(root)
        (root / "train.py").rename(root / "real.py")
        (root / "train.py").symlink_to("real.py")
        assert refused(made, "is a symbolic link").path == "train.py"

    @posix
    def test_a_dangling_link_in_place_of_a_new_file(self, root: Path, refused: Any) -> None:
        (root / "probe_tracking.py").symlink_to(root / "nowhere.py")
        assert refused(plan(root), "is a symbolic link").path == "probe_tracking.py"

    @posix
    def test_a_folder_that_is_a_link_out_of_the_repository(
        self, root: Path, refused: Any, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        made, outside = plan(root), tmp_path_factory.mktemp("outside")
        shutil.move(root / "pkg/loop.py", outside / "loop.py")
        (root / "pkg").rmdir()
        (root / "pkg").symlink_to(outside)
        assert refused(made, "leaves the repository").path == "pkg/loop.py"
        assert list(outside.iterdir()) == [outside / "loop.py"]

    @posix
    def test_a_pipe(self, root: Path, refused: Any) -> None:
        os.mkfifo(root / "fifo.py")
        repo = Repository(root, overlay={"fifo.py": b"a = 1\n"})
        assert refused(Plan(root=".", edits=[insert("fifo.py", 0, "x\n")]), "no regular file", repo).path == "fifo.py"

    @pytest.mark.parametrize("path", ["../out.py", "/etc/out.py", "a/../../out.py", ".git/hooks/post-checkout", ""])
    def test_a_path_that_leaves_the_repository(self, root: Path, refused: Any, path: str) -> None:
        made = plan(root)
        made.new_files.append(NewFile(path=path, text="x", reason="r", rule="t"))
        refused(made, "inside the repository|nothing is ever written|is there already|can't be read")

    def test_a_folder_that_is_a_file(self, root: Path, refused: Any) -> None:
        made = plan(root)
        made.new_files.append(NewFile(path="train.py/x.py", text="x", reason="r", rule="t"))
        refused(made, "train.py is no folder")


@pytest.mark.parametrize("path", ["a/./b", "a//b", "..", "/a", "a/", ".", "x\0y", ".GIT/config", ".instrument/x"])
def test_paths_that_are_never_written(path: str) -> None:
    with pytest.raises(InstrumentError):
        check_path(path)


class Fault:
    """Let the n-th of the calls by which anything gets onto the disk fail, or end the process there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int, act: Callable[[str], NoReturn]) -> None:
        self.count, self.at, self.act = 0, at, act
        for name in ("open", "fsync", "replace", "mkdir", "chmod", "unlink", "rmdir", "fdopen"):
            monkeypatch.setattr(os, name, self._wrapped(name, getattr(os, name)))

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **keywords: Any) -> Any:
            self.count += 1
            if self.count == self.at:
                self.act(name)
            return real(*arguments, **keywords)

        return call


def fail(name: str) -> NoReturn:
    raise OSError(28, "No space left on device")


def interrupt(name: str) -> NoReturn:
    raise KeyboardInterrupt


def kill(name: str) -> NoReturn:
    os._exit(9)


def count_calls(root: Path, action: Callable[[], object]) -> int:
    with pytest.MonkeyPatch.context() as monkeypatch:
        fault = Fault(monkeypatch, -1, fail)
        action()
    return fault.count


def calls(root: Path, total: int) -> range:
    """Every call; where git is asked as well, which costs the most and changes nothing in the order, every fifth."""
    return range(1, total + 1, 5 if (root / ".git").exists() else 1)


def killed(action: Callable[[], object], at: int) -> bool:
    """Run an action in a child that ends, without any clean-up, at its n-th call. Whether it got there."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with pytest.MonkeyPatch.context() as monkeypatch:
                Fault(monkeypatch, at, kill)
                with contextlib.suppress(InstrumentError):  # "nothing to undo" is an end like another
                    action()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.WEXITSTATUS(status) in (0, 9)
    return os.WEXITSTATUS(status) == 9


@pytest.mark.parametrize("act", [fail, interrupt])
def test_a_failure_at_any_call_leaves_every_file_as_it_was(root: Path, act: Callable[[str], NoReturn]) -> None:
    made, before = plan(root), tree(root)
    total = count_calls(root, lambda: apply(Repository(root), made))
    undo(root)
    assert tree(root) == before
    assert total > 40
    for at in calls(root, total):
        with pytest.MonkeyPatch.context() as monkeypatch:
            Fault(monkeypatch, at, act)
            try:
                apply(Repository(root), made)
            except (InstrumentError, KeyboardInterrupt):
                outcome = "refused"
            else:
                outcome = "written"
        # Outside of the fault the next use of the journal sweeps up what the fault kept from being swept.
        if outcome == "written":
            assert files(root) == AFTER, at
            undo(root)
        else:
            assert files(root) == {name: BEFORE[name] for name in sorted(BEFORE)}, at
            with pytest.raises(InstrumentError, match="nothing to undo"):
                undo(root)
        assert tree(root) == before, at


@posix
def test_a_kill_at_any_call_of_apply_is_put_right_by_the_next_undo_or_apply(root: Path) -> None:
    made, before = plan(root), tree(root)
    total = count_calls(root, lambda: apply(Repository(root), made))
    undo(root)
    for at in calls(root, total):
        assert killed(lambda: apply(Repository(root), made), at)
        for name, data in files(root).items():
            if not name.endswith(".tmp"):
                assert data in (BEFORE.get(name), AFTER[name]), "each file is whole, before or after"
        if at % 2:
            try:
                undo(root)
            except InstrumentError as error:
                assert "nothing to undo" in str(error)
        else:
            Journal.places(root)[0].__enter__().__exit__()
            if files(root) == AFTER:  # killed after the last word was written
                undo(root)
        assert tree(root) == before, at


@posix
def test_a_kill_at_any_call_of_undo_is_finished_by_the_next(root: Path) -> None:
    made, before = plan(root), tree(root)
    apply(Repository(root), made)
    total = count_calls(root, lambda: undo(root))
    for at in calls(root, total):
        apply(Repository(root), made)
        assert killed(lambda: undo(root), at)
        try:
            undo(root)
        except InstrumentError as error:
            assert "nothing to undo" in str(error)
        assert tree(root) == before, at


@posix
def test_a_kill_during_the_repair_is_repaired(root: Path) -> None:
    made, before = plan(root), tree(root)
    total = count_calls(root, lambda: apply(Repository(root), made))
    undo(root)
    for at in calls(root, 56):
        assert killed(lambda: apply(Repository(root), made), total - 4)
        killed(lambda: undo(root), at)
        try:
            undo(root)
        except InstrumentError as error:
            assert "nothing to undo" in str(error)
        assert tree(root) == before, at


@posix
def test_a_killed_apply_whose_file_was_then_edited_is_not_overwritten(root: Path) -> None:
    made = plan(root)
    total = count_calls(root, lambda: apply(Repository(root), made))
    undo(root)
    assert killed(lambda: apply(Repository(root), made), total - 6)
    (root / "train.py").write_bytes(b"mine\n")
    for act in (lambda: undo(root), lambda: apply(Repository(root), Plan(root=".", edits=[insert("run.sh", 0, "")]))):
        try:
            act()
        except ConflictError as error:
            assert error.path == "train.py" and "before" in (error.hint or "")
        assert (root / "train.py").read_bytes() == b"mine\n"


def test_a_failure_while_putting_back_says_what_helps(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, before, real, failing = plan(root), tree(root), os.replace, False

    def replace(source: Any, target: Any) -> None:
        nonlocal failing
        failing = failing or str(target).endswith("run.sh")
        if failing:
            raise OSError(5, "Input/output error")
        real(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", replace)
        with pytest.raises(InstrumentError, match=r"not all could be put back.*instrument undo"):
            apply(Repository(root), made)
    assert files(root) != {name: BEFORE[name] for name in BEFORE}
    with pytest.raises(InstrumentError, match="nothing to undo"):
        undo(root)
    assert tree(root) == before


def test_an_error_names_the_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def refuse(path: Any, *arguments: Any, **keywords: Any) -> int:
        if Path(path).parent == root / "pkg":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **keywords)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(InstrumentError, match=r"pkg/loop\.py: could not be written \(Permission denied\)"):
        apply(Repository(root), plan(root))


@posix
def test_two_at_once_the_second_is_refused(root: Path) -> None:
    before = tree(root)
    with Journal.places(root)[0]:
        for act in (lambda: apply(Repository(root), plan(root)), lambda: undo(root)):
            with pytest.raises(InstrumentError, match="another apply or undo"):
                act()
    assert tree(root) == before
    apply(Repository(root), plan(root))
    with Journal.places(root)[0], pytest.raises(InstrumentError, match="another apply or undo"):
        undo(root)
    undo(root)
    assert tree(root) == before


@posix
def test_a_lock_file_that_is_swept_away_while_it_is_waited_for_is_not_trusted(root: Path) -> None:
    """The classic hole: the lock of an unlinked file is no lock. The second must take the new file's."""
    import fcntl

    journal, real = Journal.places(root)[0], fcntl.flock
    seen = []

    def flock(handle: int, operation: int) -> None:
        if not seen:
            (journal.state / "lock").unlink()
        seen.append(handle)
        real(handle, operation)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(fcntl, "flock", flock)
        with journal:
            assert len(seen) == 2
            assert (journal.state / "lock").exists()
    assert not journal.state.exists()


@posix
@pytest.mark.parametrize("what", ["lock", "applies", "."])
def test_a_journal_that_is_a_symbolic_link_is_not_followed(tmp_path: Path, what: str) -> None:
    root, outside = tmp_path / "repo", tmp_path / "outside"
    outside.mkdir()
    fill(root)
    link = root / ".instrument" / what
    link.parent.mkdir(exist_ok=True) if what != "." else None
    link.symlink_to(outside)
    with pytest.raises(InstrumentError, match="is a symbolic link"):
        apply(Repository(root), plan(root))
    assert list(outside.iterdir()) == []
    assert applied(root) == []


@needs_git
class TestDirty:
    @pytest.fixture
    def repo(self, tmp_path: Path) -> Repository:
        fill(tmp_path)
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "x")
        (tmp_path / "untracked.py").write_bytes(b"u\n")
        return Repository(tmp_path)

    def test_clean_and_untracked_files_are_not_dirty(self, repo: Repository) -> None:
        assert dirty(repo, [*BEFORE, "untracked.py", "not/there.py"]) == []
        assert dirty(repo, []) == []

    def test_changed_staged_and_deleted_files_are_and_only_those_asked_for(self, repo: Repository) -> None:
        (repo.root / "train.py").write_bytes(b"a = 2\n")
        (repo.root / "run.sh").write_bytes(b"#!/bin/sh\n")
        git(repo.root, "add", "run.sh")
        (repo.root / "pkg/loop.py").unlink()
        assert dirty(repo, [*BEFORE, "untracked.py"]) == ["pkg/loop.py", "run.sh", "train.py"]
        assert dirty(repo, ["train.py"]) == ["train.py"]

    def test_a_staged_change_that_was_reverted_on_disk_is_dirty(self, repo: Repository) -> None:
        (repo.root / "train.py").write_bytes(b"a = 2\n")
        git(repo.root, "add", "train.py")
        (repo.root / "train.py").write_bytes(BEFORE["train.py"])
        assert dirty(repo, ["train.py"]) == ["train.py"]

    def test_a_newly_added_file_is_dirty_also_before_the_first_commit(self, repo: Repository, tmp_path: Path) -> None:
        git(repo.root, "add", "untracked.py")
        assert dirty(repo, ["untracked.py"]) == ["untracked.py"]
        other = tmp_path / "other"
        other.mkdir()
        (other / "a.py").write_bytes(b"a\n")
        git(other, "init", "-q")
        git(other, "add", "-A")
        assert dirty(Repository(other), ["a.py"]) == ["a.py"]

    def test_names_are_not_patterns(self, repo: Repository) -> None:
        (repo.root / "train.py").write_bytes(b"a = 2\n")
        assert dirty(repo, ["*.py", ":(top)", "tr[a]in.py"]) == []

    def test_paths_are_relative_to_a_subfolder(self, repo: Repository) -> None:
        (repo.root / "pkg/loop.py").write_bytes(b"x\n")
        assert dirty(Repository(repo.root / "pkg"), ["loop.py"]) == ["loop.py"]

    def test_crlf_as_checked_out_is_clean(self, repo: Repository) -> None:
        git(repo.root, "config", "core.autocrlf", "true")
        (repo.root / "train.py").write_bytes(b"a = 1\r\n")
        assert dirty(repo, ["train.py"]) == []

    @posix
    def test_the_repositorys_own_filters_are_not_run(self, repo: Repository) -> None:
        (repo.root / ".git/config").open("a").write(f'[filter "f"]\n\tclean = touch {repo.root}/ran; cat\n')
        (repo.root / ".gitattributes").write_text("*.py filter=f\n")
        (repo.root / "train.py").write_bytes(b"a = 2\n")
        assert dirty(repo, ["train.py"]) == ["train.py"]
        assert not (repo.root / "ran").exists()

    def test_outside_git_nothing_is_dirty(self, tmp_path_factory: pytest.TempPathFactory) -> None:
        root = fill(tmp_path_factory.mktemp("plain"))
        assert dirty(Repository(root), list(BEFORE)) == []


@needs_git
def test_a_repository_with_sha256_names(tmp_path: Path) -> None:
    fill(tmp_path)
    try:
        git(tmp_path, "init", "-q", "--object-format=sha256")
    except subprocess.CalledProcessError:
        pytest.skip("git is too old for sha256")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "x")
    assert dirty(Repository(tmp_path), list(BEFORE)) == []
    (tmp_path / "train.py").write_bytes(b"a = 2\n")
    assert dirty(Repository(tmp_path), list(BEFORE)) == ["train.py"]
