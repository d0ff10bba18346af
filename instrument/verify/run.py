"""Runs the trainer once with every tracker offline and private, stops it when asked, and reads what it recorded.

Sends nothing and copies nothing. Whatever happens to the trainer (crash, Ctrl-C, timeout, full disk), no process of
it is left and what was recorded until then is read.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Literal

from instrument.errors import InstrumentError
from instrument.verify.environment import MARK, environment
from instrument.verify.model import Run
from instrument.verify.processes import Group, adopt_orphans
from instrument.verify.records import all_readers, read_all

Stop = Literal["steps", "timeout", "interrupt"]

#: Folders that hold no records of a run and may be very large.
NOT_WALKED = {".git", ".hg", "node_modules", "__pycache__", ".venv", "venv", "site-packages", ".mypy_cache", ".tox"}
#: How often the process table and the records are looked at, seconds.
INTERVAL = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is to be run.

    `steps` and `timeout` (seconds) stop the command politely; `grace` is how long it gets to end after SIGINT, and
    half of it again after SIGTERM. `linger` is how long its children may outlive it. `keep` names credentials that it
    gets all the same, `extra` sets variables whatever else is set. Its stdout passes through untouched, to `stdout` or
    (for `--json`) to stderr; `copy_stdout` keeps a copy, which costs it the terminal.
    """

    command: Sequence[str]
    cwd: Path
    folder: Path
    steps: int | None = None
    timeout: float | None = None
    grace: float = 30.0
    linger: float = 10.0
    keep: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=dict)
    stdout: Literal["stdout", "stderr"] = "stdout"
    copy_stdout: bool = False
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What came of it: how the command ended, and both records."""

    #: As a shell gives it: 128 + n for a signal; None where it had to be left.
    exit_code: int | None = None
    stopped: Stop | None = None
    #: It did not end by itself and was killed: the ends of the records may be missing.
    killed: bool = False
    seconds: float = 0.0
    #: Children that outlived the command and were ended.
    stray: list[str] = field(default_factory=list)
    probe: list[Run] = field(default_factory=list)
    trackers: list[Run] = field(default_factory=list)
    #: Roles of the processes that were seen.
    processes: dict[int, str] = field(default_factory=dict)
    stdout: bytes = b""

    @property
    def failed(self) -> bool:
        """The command ended with an error of its own, not by being stopped."""
        return self.stopped is None and self.exit_code != 0


class _Asked(BaseException):
    """SIGTERM or SIGHUP reached this process."""


@contextmanager
def _signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end the command as Ctrl-C does, instead of leaving it behind."""

    def ask(number: int, frame: FrameType | None) -> None:
        raise _Asked

    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            before[number] = signal.signal(number, ask)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


Before = Mapping[Path, tuple[int, int, int]]


def records_below(folder: Path) -> dict[Path, tuple[int, int, int]]:
    """Files below a folder that some reader owns, each with what tells whether it was changed."""
    found: dict[Path, tuple[int, int, int]] = {}
    readers = all_readers()
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in NOT_WALKED]
        for name in names:
            path = Path(place, name)
            if any(reader.owns(path) for reader in readers):
                with suppress(OSError):
                    info = path.stat()
                    found[path] = (info.st_ino, info.st_size, info.st_mtime_ns)
    return found


def _places(request: Request) -> list[Path]:
    """Where records may be: the private folder, where the command runs, and folders that its arguments name.

    A folder that holds the place where it runs is left out: it would be a home or a whole disk.
    """
    places = [request.folder, request.cwd]
    for word in request.command[1:]:
        named = Path(request.cwd, word.partition("=")[2] or word)
        with suppress(OSError, ValueError):
            if named.is_dir() and not any(place.is_relative_to(named.resolve()) for place in places):
                places.append(named)
    return places


def _copy(source: IO[bytes], into: list[bytes], name: Literal["stdout", "stderr"]) -> None:
    target = getattr(getattr(sys, name), "buffer", None)
    while chunk := source.read1(65536):  # type: ignore[attr-defined]
        into.append(chunk)
        if target is not None:
            with suppress(OSError, ValueError):
                target.write(chunk)
                target.flush()


def run(request: Request) -> Outcome:
    """Run the command and read the records. Raises InstrumentError where it can't be started."""
    outcome = Outcome()
    mark = uuid.uuid4().hex
    before = {path: state for place in _places(request) for path, state in records_below(place).items()}
    env = {**environment(request.env, request.folder, mark, request.keep), **request.extra}
    stdout = subprocess.PIPE if request.copy_stdout else 2 if request.stdout == "stderr" else None
    adopted, began = adopt_orphans(), time.monotonic()
    kept: list[bytes] = []
    reader: threading.Thread | None = None
    try:
        sys.stdout.flush()
        try:
            # A session of its own: a Ctrl-C in the terminal reaches this process alone, which hands it on and reads
            # the records afterwards.
            process = subprocess.Popen(
                list(request.command), cwd=request.cwd, env=env, stdout=stdout, start_new_session=True
            )
        except OSError as error:
            raise InstrumentError(
                f"the command can't be started: {error.strerror}: {request.command[0]}",
                hint="give the command as you would type it, after --",
            ) from None
        if process.stdout is not None:
            reader = threading.Thread(target=_copy, args=(process.stdout, kept, request.stdout), daemon=True)
            reader.start()
        events = [reader for reader in all_readers() if reader.name == "tensorboard"]
        group = Group(process.pid, f"{MARK}={mark}".encode(), wanted=lambda p: any(r.owns(Path(p)) for r in events))
        with _signals():
            try:
                outcome.stopped = _until(process, group, request, began, before)
            except (KeyboardInterrupt, _Asked):
                outcome.stopped = "interrupt"
            finally:
                _end(process, group, outcome, request)
        outcome.seconds = time.monotonic() - began
        code = process.returncode
        outcome.exit_code = 128 - code if code is not None and code < 0 else code
        if reader is not None:
            reader.join(timeout=5)
            outcome.stdout = b"".join(kept)
    finally:
        adopt_orphans(adopted)
    outcome.processes = {pid: group.role(pid) for pid in group.members}
    _collect(outcome, request, group, before)
    return outcome


def _until(
    process: subprocess.Popen[bytes], group: Group, request: Request, began: float, before: Before
) -> Stop | None:
    """Wait for the command to end, for the time to be over, or for enough steps. Says which of the last two it was."""
    next_count = began
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=INTERVAL)
            return None
        group.look()
        now = time.monotonic()
        if request.timeout is not None and now - began >= request.timeout:
            return "timeout"
        if request.steps is not None and now >= next_count:
            probe, trackers = read_all([*_changed(request.folder, before), *map(Path, group.opened)])
            if max((run.steps for run in (*probe, *trackers)), default=0) >= request.steps:
                return "steps"
            # Reading gets slower as the record grows: never more than a fifth of the time.
            next_count = now + 5 * (time.monotonic() - now)


def _end(process: subprocess.Popen[bytes], group: Group, outcome: Outcome, request: Request) -> None:
    """End what still runs: SIGINT to the group, then SIGTERM, then SIGKILL, each after some time; then what is left.

    What a tracker runs beside the trainer goes last, so that it can write what the trainer sent until the end.
    """
    for number, seconds in ((signal.SIGINT, request.grace), (signal.SIGTERM, request.grace / 2), (signal.SIGKILL, 5.0)):
        if process.poll() is not None:
            break
        outcome.killed = number is signal.SIGKILL
        group.signal(number)
        # Asked a second time while waiting: on to the next signal.
        with suppress(subprocess.TimeoutExpired, KeyboardInterrupt, _Asked):
            process.wait(timeout=seconds)
    with suppress(KeyboardInterrupt, _Asked):
        if group.wait(request.linger):
            return
    left = [str(member) for member in group.look() if member.pid != process.pid]
    for number, times in ((signal.SIGTERM, 1), (signal.SIGKILL, 20)):
        for _ in range(times):  # a process may be started while the others are being killed
            group.signal(number, everyone=True)
            if group.wait(3.0 if number is signal.SIGTERM else 0.25):
                break
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
    outcome.stray = left


def _changed(folder: Path, before: Before) -> list[Path]:
    # What an earlier run left there is no record of this one.
    return [path for path, state in records_below(folder).items() if before.get(path) != state]


def _collect(outcome: Outcome, request: Request, group: Group, before: Before) -> None:
    opened = [Path(path) for path in group.opened if Path(path).is_file()]
    found = [path for place in _places(request) for path in _changed(place, before)]
    files = {path.resolve() for path in (*found, *opened)}
    outcome.probe, outcome.trackers = read_all(sorted(files))
    for run in (*outcome.probe, *outcome.trackers):
        run.process.role = run.process.role or group.role(run.process.pid)


def room(folder: Path) -> str | None:
    """A sentence when there is too little room for records below the folder (below 16 MiB), else None."""
    with suppress(OSError):
        free = shutil.disk_usage(folder).free
        if free < 16 * 1024 * 1024:
            return f"only {free // 1024} KiB are free in {folder}: the records may be cut"
    return None
