"""Write a plan: every file or none, and so that it can be taken back."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable

from instrument.errors import ConflictError, InstrumentError
from instrument.patch.diff import FileChange, changes
from instrument.patch.journal import Journal, Manifest, Written, digest, read_or_none, safe_target, write_whole
from instrument.plan.model import Plan
from instrument.repo.scan import Repository, _git


def apply(repo: Repository, plan: Plan) -> Manifest:
    """Write what the plan changes and creates; proofs are the caller's business.

    Returns what was written (no files for a plan that changes nothing). On any failure, a kill included, every file is
    as it was, at the latest when the next apply or undo has run. Raises ConflictError where a file is not what the plan
    was made on, InstrumentError for a path that leaves the repository, is a symbolic link or can't be written.
    """
    found = changes(repo, plan)
    for change in found:
        safe_target(repo.root, change.path)
    if not found:
        return Manifest(number=0)
    journal, *others = Journal.places(repo.root)
    for other in others:
        if other.begun:
            with other:  # puts right what a killed apply left, from before there was git here
                pass
    root = repo.root.resolve()
    prefix = "" if root == journal.base else root.relative_to(journal.base).as_posix() + "/"
    try:
        with journal:
            return _apply(journal, prefix, found, _missing_folders(repo, found))
    except OSError as error:
        message = f"could not be written ({error.strerror}); every file is as it was"
        raise InstrumentError(message, path=_name(error, found)) from error


def _apply(journal: Journal, prefix: str, found: list[FileChange], folders: list[str]) -> Manifest:
    manifest = journal.begin(prefix, [_expect(journal, prefix, change) for change in found], folders)
    try:
        _write_all(journal, manifest, found)
        return journal.finish(manifest)
    except BaseException:
        try:
            journal.put_back(manifest)
        except OSError as error:
            message = f"could not be written, and not all could be put back either ({error.strerror})"
            raise InstrumentError(message, hint="`instrument undo` tries again") from error
        raise


def _expect(journal: Journal, prefix: str, change: FileChange) -> tuple[Written, bytes | None]:
    """A file as it is on disk now. Raises ConflictError unless it is what the plan was made on."""
    data = read_or_none(safe_target(journal.base, prefix + change.path))
    if data != change.before:
        raise ConflictError(
            "changed since it was planned", path=change.path, hint="plan again", code="changed-since-plan"
        )
    before = None if data is None else digest(data)
    return Written(path=change.path, before=before, after=digest(change.after)), data


def _missing_folders(repo: Repository, found: Iterable[FileChange]) -> list[str]:
    missing: dict[str, None] = {}
    for change in found:
        parts = change.path.split("/")[:-1]
        for end in range(1, len(parts) + 1):
            if not (repo.root / "/".join(parts[:end])).is_dir():
                missing["/".join(parts[:end])] = None
    return list(missing)


def _write_all(journal: Journal, manifest: Manifest, found: list[FileChange]) -> None:
    for folder in manifest.folders:
        os.mkdir(journal.base / (manifest.prefix + folder))
    for index, change in enumerate(found):
        target = journal.target(manifest, change.path)
        # Once more, just before it is replaced: an editor may have saved it meanwhile.
        if read_or_none(target) != change.before:
            raise ConflictError(
                "changed while it was being written", path=change.path, hint="plan again", code="changed-since-plan"
            )
        mode = None if change.before is None else stat.S_IMODE(os.lstat(target).st_mode)
        write_whole(target, change.after, journal.temporary(manifest, index), mode)


def _name(error: OSError, found: list[FileChange]) -> str | None:
    if len(found) == 1:
        return found[0].path
    name = os.path.basename(os.fsdecode(error.filename)) if isinstance(error.filename, (str, bytes)) else ""
    *_, index = name.removesuffix(".tmp").split("-")
    return found[int(index)].path if index.isdecimal() and int(index) < len(found) else None


def dirty(repo: Repository, paths: Iterable[str]) -> list[str]:
    """Those of the paths that git tracks and that have changes not yet committed, staged or not; none outside git.

    `git status` would run the repository's own clean filters; blobs are compared here instead. A file that differs from
    its blob by CRLF line endings alone is as git checked it out.
    """
    wanted = sorted(set(paths))
    if repo.git_root is None or not wanted:
        return []
    staged = _entries(_git(repo.root, "--literal-pathspecs", "ls-files", "-z", "--stage", "--", *wanted), 1)
    committed = _entries(_git(repo.root, "--literal-pathspecs", "ls-tree", "-z", "HEAD", "--", *wanted), 2)
    found = []
    for path in wanted:
        blob = staged.get(path)
        if blob is None:
            continue
        if committed.get(path) != blob or not _is_blob(read_or_none(repo.root / path), blob):
            found.append(path)
    return found


def _entries(out: bytes | None, field: int) -> dict[str, str]:
    """{path: blob} of `ls-files --stage` (mode blob stage) or `ls-tree` (mode type blob)."""
    entries = {}
    for line in (out or b"").split(b"\0"):
        head, tab, name = line.partition(b"\t")
        if tab:
            entries[os.fsdecode(name)] = head.split(b" ")[field].decode("ascii")
    return entries


def _is_blob(data: bytes | None, blob: str) -> bool:
    if data is None:
        return False
    algorithm = "sha1" if len(blob) == 40 else "sha256"
    for content in dict.fromkeys((data, data.replace(b"\r\n", b"\n"))):
        if hashlib.new(algorithm, b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest() == blob:
            return True
    return False
