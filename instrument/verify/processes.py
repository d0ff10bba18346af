"""The processes that a command starts: which they are, what role each has, and how all of them are ended."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PROC = Path("/proc")
#: Processes in which a tracker writes what the trainer sends it.
SERVICES = ("wandb-core", "wandb-service")
_PR_SET_CHILD_SUBREAPER, _PR_GET_CHILD_SUBREAPER = 36, 37


def adopt_orphans(on: bool = True) -> bool:
    """Let processes whose parent ends become children of this one, so that none is lost sight of (Linux only).

    Returns what was set before.
    """
    if not sys.platform.startswith("linux"):
        return False
    with suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        before = ctypes.c_int(0)
        libc.prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before), 0, 0, 0)
        libc.prctl(_PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)
        return bool(before.value)
    return False


@dataclass(slots=True)
class Member:
    """One process of the command."""

    pid: int
    started: str
    parent: int
    role: str = ""
    command: str = ""
    alive: bool = True

    def __str__(self) -> str:
        return f"{self.pid} ({self.role or self.command or '?'})"


@dataclass(slots=True)
class Group:
    """The processes of one command: its own process group, their descendants, and whatever carries the mark.

    `mark` is the bytes "NAME=value" that stand in the environment of every one of them. Where there is no /proc (macOS)
    only the process group is known.
    """

    leader: int
    mark: bytes
    #: Tells which open files are worth remembering (event files outside the folder).
    wanted: Callable[[str], bool] = field(default=lambda path: False)
    members: dict[int, Member] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    _foreign: set[tuple[int, str]] = field(default_factory=set)

    def look(self) -> list[Member]:
        """Look at the process table. Returns those that run now (zombies left out, and reaped where they are ours)."""
        table = _table()
        for pid, (state, parent, started) in table.items():
            known = self.members.get(pid)
            if known is not None and known.started != started:
                del self.members[pid]  # the number was given to another process
                known = None
            if known is None and (pid, started) not in self._foreign:
                if pid == self.leader or (parent in self.members and self.members[parent].alive) or self._marked(pid):
                    self.members[pid] = known = Member(pid, started, parent)
                elif pid != os.getpid():
                    # A process has its environment from the start: what is foreign once stays so, unless it is
                    # just between fork and exec of one of ours, and then its parent is known.
                    self._foreign.add((pid, started))
            if known is not None and state == "Z" and parent == os.getpid() and pid != self.leader:
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
        for pid, member in self.members.items():
            member.alive = pid in table and table[pid][0] not in "ZX"
            if member.alive:
                self._describe(member)
        return [member for member in self.members.values() if member.alive]

    def _marked(self, pid: int) -> bool:
        with suppress(OSError):
            return self.mark in (PROC / str(pid) / "environ").read_bytes().split(b"\0")
        return False

    def _describe(self, member: Member) -> None:
        folder = PROC / str(member.pid)
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            member.command = b" ".join(words).decode("utf-8", "replace")[:200]
        if not member.role or member.command.startswith("ray::"):
            member.role = self._role(member, folder) or member.role
        with suppress(OSError):
            for name in os.listdir(folder / "fd"):
                with suppress(OSError):
                    path = os.readlink(folder / "fd" / name)
                    if path.startswith("/") and self.wanted(path):
                        self.opened.add(path)

    def _role(self, member: Member, folder: Path) -> str:
        if ray := re.match(r"ray::([\w.]+)", member.command):
            name = ray[1].split(".")[0]
            return "" if name == "IDLE" else f"Ray actor or task {name}"
        environ: dict[bytes, bytes] = {}
        with suppress(OSError):
            pairs = (pair.partition(b"=") for pair in (folder / "environ").read_bytes().split(b"\0"))
            environ = {name: value for name, _, value in pairs}
        for launcher, rank in ((b"TORCHELASTIC_RUN_ID", b"RANK"), (b"SLURM_PROCID", b"SLURM_PROCID")):
            if launcher in environ and environ.get(rank, b"").isdigit():
                return f"{'torchrun' if rank == b'RANK' else 'Slurm'} rank {int(environ[rank])}"
        if "multiprocessing.spawn" in member.command or "spawn_main" in member.command:
            return "spawned child"
        if "multiprocessing.forkserver" in member.command:
            return "fork server"
        return "main" if member.pid == self.leader else ""

    def role(self, pid: int | None) -> str:
        """What a process was, as far as it was seen: "main", "torchrun rank 1", "child of main", ..."""
        member = self.members.get(pid or -1)
        if member is None:
            return ""
        if member.role or member.parent not in self.members:
            return member.role
        return f"child of {self.role(member.parent) or 'main'}"

    def signal(self, number: signal.Signals, *, everyone: bool = False) -> None:
        """Send a signal to the process group, as a terminal does; to everyone also where it has a group of its own.

        A tracker's service that shares the group is spared unless everyone is meant: it must outlive the trainer to
        write what that still sends. (It ignores SIGINT by itself, but SIGTERM ends it.)
        """
        members = self.look()
        for member in members:
            with suppress(ProcessLookupError, PermissionError):
                if everyone or (
                    os.getpgid(member.pid) == self.leader and not any(name in member.command for name in SERVICES)
                ):
                    os.kill(member.pid, number)
        if everyone or not members:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.leader, number)

    def wait(self, seconds: float) -> bool:
        """Wait until no member runs any more. Returns whether that came within the time."""
        end = time.monotonic() + seconds
        while self.look():
            if time.monotonic() >= end:
                return False
            time.sleep(0.05)
        return True


def _table() -> dict[int, tuple[str, int, str]]:
    """Every process: its state, parent and start time, parents before children."""
    table: dict[int, tuple[str, int, str]] = {}
    if not PROC.is_dir():
        return table
    for name in sorted((n for n in os.listdir(PROC) if n.isdigit()), key=int):
        with suppress(OSError, IndexError, ValueError):
            # The name in parentheses may itself hold spaces and parentheses.
            state, parent, *rest = (PROC / name / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            table[int(name)] = (state, int(parent), rest[17])
    return table
