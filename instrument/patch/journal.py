"""What `apply` wrote, kept so that it can be taken back, and so that a killed `apply` or `undo` is put right later.

Kept in `<git dir>/instrument/` inside git, else in `<root>/.instrument/` (which ignores itself). Each apply is one
folder:

    applies/0001/manifest.json     what was written: paths, hashes before and after, and how far it has come
    applies/0001/before/0          the bytes of the first file before, and so on

A folder without a manifest is one that was never begun or is already over, and is swept away. The manifest says
`applying` before the first file is touched and `done` after the last, `undoing` before the first is put back: whoever
comes next and finds `applying` or `undoing` puts the files back as they were, then goes on. Files themselves are only
ever replaced whole, so each holds its bytes before or its bytes after, and its hash tells which.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from instrument.errors import ConflictError, InstrumentError
from instrument.repo.scan import _git

try:
    import fcntl
except ImportError:  # Windows has no flock: there, two applies at once are told apart by the hashes alone
    fcntl = None  # type: ignore[assignment]

SCHEMA = "instrument.apply/1"
STATES = ("applying", "done", "undoing")
#: Nothing is ever written below these: git's own files (hooks run), and ours.
FORBIDDEN = frozenset({".git", ".instrument"})
_BINARY = getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One file of an apply."""

    #: Relative to the folder that was applied to.
    path: str
    #: sha256 of its bytes before; None for a file that was created.
    before: str | None
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One apply: what it wrote."""

    number: int
    #: The folder it was applied to, below the git root ("" or "some/folder/").
    prefix: str = ""
    files: tuple[Written, ...] = ()
    #: Folders that had to be made for new files, outermost first.
    folders: tuple[str, ...] = ()
    state: str = "done"


def digest(data: bytes) -> str:
    """sha256, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def check_path(path: str) -> None:
    """Raise InstrumentError unless a path is relative, goes nowhere but down, and stays out of `.git`."""
    parts = path.split("/")
    if os.name == "nt" and ("\\" in path or ":" in path):
        raise InstrumentError("is no path inside the repository", path=path)
    if not path or "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise InstrumentError("is no path inside the repository", path=path)
    if any(part.lower() in FORBIDDEN for part in parts):
        raise InstrumentError("lies where nothing is ever written", path=path)


def safe_target(base: Path, path: str) -> Path:
    """The place on disk that a path names.

    Raises InstrumentError if it leaves `base`, by itself or through a symbolic link, or if it names a symbolic link or
    anything else that is not a regular file.
    """
    check_path(path)
    *folders, name = path.split("/")
    here, home = base, base.resolve()
    for folder in folders:
        here = here / folder
        if not os.path.lexists(here):
            break
        if here.is_symlink() and not here.resolve().is_relative_to(home):
            raise InstrumentError("is reached through a symbolic link that leaves the repository", path=path)
        if not here.is_dir():
            raise InstrumentError(f"can't be: {folder} is no folder", path=path)
    target = base.joinpath(*folders, name)
    if target.is_symlink():
        raise InstrumentError("is a symbolic link", path=path, hint="name the file it points to")
    if os.path.lexists(target) and not stat.S_ISREG(os.lstat(target).st_mode):
        raise InstrumentError("is no regular file", path=path)
    return target


def read_or_none(target: Path) -> bytes | None:
    """A file's bytes; None where there is none."""
    try:
        return target.read_bytes()
    except FileNotFoundError:
        return None


def write_whole(target: Path, data: bytes, temporary: Path, mode: int | None) -> None:
    """Put bytes in a file's place in one step: it has the old ones or the new ones, whatever happens.

    `mode` None gives a new file what the umask leaves. Owner and group are kept where they may be.
    """
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | _BINARY
    handle = os.open(temporary, flags, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(handle, "wb", closefd=False) as file:
            file.write(data)
        if mode is not None:
            _keep_owner(handle, target)
            os.chmod(temporary, mode)
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(temporary, target)
    sync_folder(target.parent)


def _keep_owner(handle: int, target: Path) -> None:
    if not hasattr(os, "fchown"):
        return
    old, new = os.lstat(target), os.fstat(handle)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with contextlib.suppress(OSError):  # only root may give files away; the content is what matters
            os.fchown(handle, old.st_uid, old.st_gid)


def sync_folder(folder: Path) -> None:
    """Have a folder's entries on disk; where folders can't be synced, do nothing."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


class Journal:
    """The applies that can still be undone. Use as a context manager: one process at a time holds it."""

    def __init__(self, base: Path, state: Path) -> None:
        #: The folder that prefixes and paths are relative to.
        self.base = base
        self.state = state
        self.applies = state / "applies"
        self._lock: int | None = None

    @staticmethod
    def places(root: Path) -> list[Journal]:
        """Where the journal of a folder may be: in its git dir (the first choice), and in itself."""
        root = root.resolve()
        own = Journal(root, root / ".instrument")
        top, git_dir = _git(root, "rev-parse", "--show-toplevel"), _git(root, "rev-parse", "--absolute-git-dir")
        if not top or not git_dir:
            return [own]
        base, inside = (Path(os.fsdecode(out.rstrip(b"\n"))).resolve() for out in (top, git_dir))
        return [Journal(base, inside / "instrument"), own]

    @property
    def begun(self) -> bool:
        """Whether there is anything in it, of this process or of one that was killed."""
        return os.path.lexists(self.state)

    @property
    def label(self) -> str:
        """Its place as a person would name it, without the machine's own folders."""
        if self.state.is_relative_to(self.base):
            return self.state.relative_to(self.base).as_posix()
        return "<git dir>/" + self.state.name

    def __enter__(self) -> Journal:
        for part in (self.state, self.applies, self.state / "lock"):
            if part.is_symlink():
                raise InstrumentError(f"{part.name} is a symbolic link", path=self.label, hint="remove it")
        for _ in range(20):  # another process may just be sweeping its empty journal away
            try:
                os.makedirs(self.state, exist_ok=True)
                handle = os.open(self.state / "lock", os.O_RDWR | os.O_CREAT, 0o600)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise InstrumentError(f"its journal can't be made: {error.strerror}", path=self.label) from None
            try:
                if fcntl is not None:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(handle), os.stat(self.state / "lock")):
                    self._lock = handle
                    break
            except FileNotFoundError:
                pass
            except OSError:
                os.close(handle)
                raise InstrumentError(
                    "another apply or undo is at work here", hint="wait for it to end", code="busy"
                ) from None
            os.close(handle)
        else:
            raise InstrumentError("another apply or undo is at work here", hint="wait for it to end")
        try:
            self._sweep()
            self._recover()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._sweep()
            if not self._numbers():
                for leftover in (self.state / ".gitignore", self.state / "lock"):
                    leftover.unlink(missing_ok=True)
                for folder in (self.applies, self.state):
                    if folder.is_dir():
                        folder.rmdir()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    # -- entries

    def _numbers(self) -> list[int]:
        if not self.applies.is_dir():
            return []
        return sorted(int(name) for name in os.listdir(self.applies) if name.isdecimal())

    def _folder(self, number: int) -> Path:
        return self.applies / f"{number:04}"

    def manifests(self) -> list[Manifest]:
        """Every apply that can be undone, oldest first. Raises InstrumentError for one that can't be read."""
        return [self._load(n) for n in self._numbers() if (self._folder(n) / "manifest.json").exists()]

    def begin(self, prefix: str, before: list[tuple[Written, bytes | None]], folders: list[str]) -> Manifest:
        """Keep what is about to be replaced, and say so, before anything is touched."""
        number = max(self._numbers(), default=0) + 1
        kept = self._folder(number) / "before"
        os.makedirs(kept)
        if self.state.name == ".instrument":
            (self.state / ".gitignore").write_bytes(b"*\n")
        for index, (_, data) in enumerate(before):
            if data is not None:
                write_whole(kept / str(index), data, kept / "new", None)
        manifest = Manifest(
            number=number,
            prefix=prefix,
            files=tuple(written for written, _ in before),
            folders=tuple(folders),
            state="applying",
        )
        self.save(manifest)
        sync_folder(self.applies)
        return manifest

    def save(self, manifest: Manifest) -> Manifest:
        """Write a manifest in its place."""
        folder = self._folder(manifest.number)
        document = {
            "schema": SCHEMA,
            "state": manifest.state,
            "prefix": manifest.prefix,
            "files": [{"path": f.path, "before": f.before, "after": f.after} for f in manifest.files],
            "folders": list(manifest.folders),
        }
        data = json.dumps(document, indent=1).encode("ascii") + b"\n"
        write_whole(folder / "manifest.json", data, folder / "manifest.new", None)
        return manifest

    def drop(self, manifest: Manifest) -> None:
        """Forget an apply: it is undone, or never was."""
        os.unlink(self._folder(manifest.number) / "manifest.json")
        self._sweep()

    def _load(self, number: int) -> Manifest:
        where = f"{self.label}/applies/{number:04}/manifest.json"
        try:
            document: Any = json.loads((self._folder(number) / "manifest.json").read_bytes())
            assert document["schema"] == SCHEMA and document["state"] in STATES
            files = tuple(Written(path=f["path"], before=f["before"], after=f["after"]) for f in document["files"])
            manifest = Manifest(
                number=number,
                prefix=document["prefix"],
                files=files,
                folders=tuple(document["folders"]),
                state=document["state"],
            )
            texts = [manifest.prefix, *manifest.folders, *(f.path for f in files), *(f.after for f in files)]
            texts += [f.before for f in files if f.before is not None]
            assert all(isinstance(text, str) for text in texts)
        except (OSError, ValueError, KeyError, TypeError, AssertionError, RecursionError):
            raise InstrumentError(
                "can't be read", path=where, hint="its folder `before` has the files as they were"
            ) from None
        for path in [f.path for f in files] + list(manifest.folders):
            check_path(manifest.prefix + path)
        return manifest

    def _sweep(self) -> None:
        """Remove folders without a manifest."""
        for number in self._numbers():
            folder = self._folder(number)
            if not (folder / "manifest.json").exists():
                shutil.rmtree(folder)

    # -- files

    def target(self, manifest: Manifest, path: str) -> Path:
        """Where a file of an apply is. Raises InstrumentError as `safe_target` does."""
        return safe_target(self.base, manifest.prefix + path)

    def temporary(self, manifest: Manifest, index: int) -> Path:
        """The name under which a file's new bytes lie beside it until they take its place."""
        place = self.base / (manifest.prefix + manifest.files[index].path)
        return place.parent / f".instrument-{manifest.number}-{index}.tmp"

    def check(self, manifest: Manifest) -> None:
        """Raise ConflictError where a file is neither as the apply left it nor as it was before."""
        for written in manifest.files:
            data = read_or_none(self.target(manifest, written.path))
            if (None if data is None else digest(data)) not in (written.after, written.before):
                raise ConflictError(
                    "changed since it was written, so it can't be put back",
                    path=written.path,
                    hint=f"its bytes before are in {self.label}/applies/{manifest.number:04}/before",
                    code="changed-since-apply",
                )

    def put_back(self, manifest: Manifest) -> None:
        """Give every file the bytes it had before, remove what was created, and forget the apply.

        Raises ConflictError, with nothing more done, where a file is neither as it was nor as it was left.
        """
        self.check(manifest)
        for index, written in enumerate(manifest.files):
            target, temporary = self.target(manifest, written.path), self.temporary(manifest, index)
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(temporary)
            data = read_or_none(target)
            if data is None or digest(data) == written.before:
                continue
            if written.before is None:
                os.unlink(target)
                sync_folder(target.parent)
                continue
            kept = (self._folder(manifest.number) / "before" / str(index)).read_bytes()
            if digest(kept) != written.before:
                raise InstrumentError("the copy of it that was kept is damaged", path=manifest.prefix + written.path)
            write_whole(target, kept, temporary, stat.S_IMODE(os.lstat(target).st_mode))
        for folder in reversed(manifest.folders):
            with contextlib.suppress(OSError):  # others may have put files there since
                os.rmdir(self.base / (manifest.prefix + folder))
        self.drop(manifest)

    def _recover(self) -> None:
        for manifest in reversed(self.manifests()):
            if manifest.state != "done":
                self.put_back(manifest)

    def finish(self, manifest: Manifest) -> Manifest:
        """Every file is written."""
        return self.save(replace(manifest, state="done"))
