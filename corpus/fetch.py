"""Getting a source onto this machine: downloaded once, its hash checked, unpacked without leaving its folder.

`INSTRUMENT_CORPUS_CACHE` is where files are kept; `INSTRUMENT_CORPUS_MIRRORS` a folder with git repositories as
`owner+name`. A git source is taken from there, or else passed over.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

from corpus import index
from corpus.manifest import Source
from instrument.errors import InstrumentError
from instrument.repo.scan import MAX_SIZE

#: Bytes of one unpacked source at most; the largest in the manifest has a tenth of it.
_MAX_BYTES = 600_000_000
_MAX_MEMBERS = 60_000


class NotHad(Exception):
    """The source can't be had here; says why."""


def cache() -> Path:
    """The folder in which downloaded files are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("INSTRUMENT_CORPUS_CACHE") or Path(base) / "probe-instrument" / "corpus")


def fetch(source: Source, into: Path) -> Path:
    """The source's tree below a folder. Raises NotHad where it can't be had, InstrumentError for a wrong hash."""
    target = into / source.name
    if source.git:
        return _checkout(source, target)
    archive = _downloaded(source)
    target.mkdir(parents=True)
    unpack(archive, target)
    inner = [path for path in target.iterdir() if path.is_dir()]
    # An sdist is one folder; a wheel is the packages themselves.
    return inner[0] if len(inner) == 1 and not list(target.glob("*.dist-info")) else target


def _downloaded(source: Source) -> Path:
    kept = cache() / source.file
    if not kept.exists():
        try:
            data = index.find(source.pypi.partition("==")[0], source.file)
        except LookupError as error:
            raise NotHad(f"{source.file} can't be downloaded: {error}") from None
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".{os.getpid()}")
        part.write_bytes(data)
        part.replace(kept)
    found_hash = hashlib.sha256(kept.read_bytes()).hexdigest()
    if found_hash != source.sha256:
        raise InstrumentError(
            f"is not the file of the manifest: sha256 {found_hash[:12]}..., expected {source.sha256[:12]}...",
            path=str(kept), hint="remove it, and it is downloaded again",
        )  # fmt: skip
    return kept


def _checkout(source: Source, target: Path) -> Path:
    mirrors = os.environ.get("INSTRUMENT_CORPUS_MIRRORS")
    if not mirrors:
        raise NotHad("no mirror: set INSTRUMENT_CORPUS_MIRRORS")
    above = Path(mirrors, source.git.replace("/", "+"))
    for place in (above, *(sorted(above.iterdir()) if above.is_dir() else ())):
        if place.is_dir() and _tree(place, source.commit, target):
            return target
    raise NotHad(f"the mirror has no commit {source.commit[:12]} of {source.git}")


def _tree(repository: Path, commit: str, target: Path) -> bool:
    """Write a commit's regular files below the target; False where the repository has no such commit.

    Not by `git archive`: a mirror may lack its largest files, which are then left out, as they would be for their size.
    """
    git = ["git", "-C", str(repository), "-c", "core.fsmonitor=false"]
    quiet = {**os.environ, "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    listed = subprocess.run([*git, "ls-tree", "-r", "-z", commit], capture_output=True, check=False, env=quiet)
    if listed.returncode:
        return False
    entries = [entry.split("\t", 1) for entry in listed.stdout.decode("utf-8", "surrogateescape").split("\0") if entry]
    files = [(about.split()[2], name) for about, name in entries if about.startswith("100")][:_MAX_MEMBERS]
    asked = "".join(f"{blob}\n" for blob, _ in files).encode()
    data = subprocess.run(
        [*git, "cat-file", "--batch"], input=asked, capture_output=True, check=False, env=quiet
    ).stdout
    at = total = 0
    for _, name in files:
        head, _, _ = data[at : at + 200].partition(b"\n")
        at += len(head) + 1
        if head.endswith(b" missing"):
            continue
        size = int(head.split()[-1])
        if size <= MAX_SIZE and _inside(name):
            total += size
            _within(total, repository)
            _write(target, name, data[at : at + size])
        at += size + 1
    return True


def unpack(archive: Path, target: Path) -> None:
    """Regular files of an archive, each below the target; links, devices and names that lead out are left out, and
    so are files that are too large for the engine to look at.

    Raises InstrumentError for an archive that is too large or can't be read.
    """
    total = 0
    try:
        if archive.name.endswith((".whl", ".zip")):
            with zipfile.ZipFile(archive) as zipped:
                for info in zipped.infolist()[:_MAX_MEMBERS]:
                    if not info.is_dir() and info.file_size <= MAX_SIZE and _inside(info.filename):
                        total += info.file_size
                        _within(total, archive)
                        _write(target, info.filename, zipped.read(info))
        else:
            with tarfile.open(archive) as tarred:
                for number, member in enumerate(tarred):
                    if number < _MAX_MEMBERS and member.isreg() and member.size <= MAX_SIZE and _inside(member.name):
                        total += member.size
                        _within(total, archive)
                        file = tarred.extractfile(member)
                        _write(target, member.name, file.read() if file else b"")
    except (zipfile.BadZipFile, tarfile.TarError, OSError, EOFError) as error:
        raise InstrumentError(f"can't be unpacked: {error}", path=str(archive)) from None


def _inside(name: str) -> bool:
    pure = PurePosixPath(name.replace("\\", "/"))
    return not pure.is_absolute() and ".." not in pure.parts and ":" not in name


def _within(total: int, archive: Path) -> None:
    if total > _MAX_BYTES:
        raise InstrumentError(f"holds more than {_MAX_BYTES} bytes", path=str(archive))


def _write(target: Path, name: str, data: bytes) -> None:
    path = target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
