"""Which interpreters a repository starts, how each is started, and which emitting places run in it.

The process map is evidence: a run that ends green and recorded nothing is almost always a process that was never
configured. Data only; `plan/process_map.py` fills it from Python, `launch/process_map.py` from launchers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

#: What an interpreter is. `script`: started by hand or by a plain command. `caller`: whoever imports the code; the
#: repository does not show who. The rest is started as its name says.
ProcessKind = Literal[
    "script", "caller", "notebook", "rank", "ray-driver", "ray-actor", "ray-task", "ray-job", "spawned", "forked",
    "subprocess", "modal", "submitit", "container", "slurm", "kubernetes", "sky",
]  # fmt: skip

#: covered: what is emitted there reaches Probe, by this plan or an earlier one. asked: a person must decide.
#: not-covered: it does not.
Coverage = Literal["covered", "asked", "not-covered"]

KINDS: dict[ProcessKind, str] = {
    "script": "Python process",
    "caller": "the process that imports it",
    "notebook": "notebook kernel",
    "rank": "rank",
    "ray-driver": "Ray driver",
    "ray-actor": "Ray actor",
    "ray-task": "Ray task",
    "ray-job": "Ray job",
    "spawned": "spawned process",
    "forked": "child process",
    "subprocess": "subprocess",
    "modal": "Modal function",
    "submitit": "submitit job",
    "container": "container",
    "slurm": "Slurm job",
    "kubernetes": "Kubernetes pod",
    "sky": "SkyPilot task",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a process is started: the place that does it and the words that do it ("torchrun", "ray job submit")."""

    path: str
    line: int
    how: str

    def to_json(self) -> dict[str, Any]:
        return {"path": self.path, "line": self.line, "how": self.how}


@dataclass(frozen=True, slots=True, kw_only=True)
class Emitter:
    """A place that sends metrics, or builds what does."""

    path: str
    line: int
    what: str
    rule: str
    coverage: Coverage

    def to_json(self) -> dict[str, Any]:
        return {"path": self.path, "line": self.line, "what": self.what, "rule": self.rule, "coverage": self.coverage}


@dataclass(slots=True, kw_only=True)
class Process:
    """One kind of interpreter: all that is started in this way is one entry, however many of them run."""

    #: Unique in the map, the same for the same repository: "train.py", "ray-actor train.py:Learner".
    id: str
    kind: ProcessKind
    #: What runs in it: a file, a class, a function.
    name: str
    #: The ids of the processes that start it; empty for what a person or a scheduler starts.
    parents: list[str] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    emitters: list[Emitter] = field(default_factory=list)

    @property
    def title(self) -> str:
        """For people: "Ray actor Learner"."""
        return f"{KINDS[self.kind]} {self.name}".strip()

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "name": self.name,
            "parents": list(self.parents),
            "starts": [start.to_json() for start in self.starts],
            "emitters": [emitter.to_json() for emitter in self.emitters],
        }


@dataclass(slots=True)
class ProcessMap:
    """All processes by id. A process may have several parents (a script that several launchers start)."""

    processes: dict[str, Process] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.processes)

    def add(self, kind: ProcessKind, name: str, id: str, start: Start | None = None) -> Process:
        """The process of this id, made if it is new; `start` is one more way in which it is started."""
        process = self.processes.setdefault(id, Process(id=id, kind=kind, name=name))
        if start is not None and start not in process.starts:
            process.starts.append(start)
        return process

    def link(self, parent: Process, child: Process) -> None:
        """Say that one starts the other. What would close a circle is left out."""
        if parent.id != child.id and parent.id not in child.parents and not self._below(parent.id, child.id):
            child.parents.append(parent.id)

    def _below(self, id: str, top: str) -> bool:
        todo, seen = [id], set[str]()
        while todo:
            here = todo.pop()
            if here == top:
                return True
            if here not in seen:
                seen.add(here)
                todo += self.processes[here].parents
        return False

    def roots(self) -> list[Process]:
        """What nothing in the repository starts, by id."""
        return [self.processes[id] for id in sorted(self.processes) if not self.processes[id].parents]

    def children(self, process: Process) -> list[Process]:
        """What a process starts, by id."""
        return [self.processes[id] for id in sorted(self.processes) if process.id in self.processes[id].parents]

    def emitters(self) -> Iterator[Emitter]:
        for id in sorted(self.processes):
            yield from self.processes[id].emitters

    def keep_emitting(self) -> None:
        """Leave out what neither emits nor starts, however far down, something that does."""
        kept: set[str] = set()
        todo = [process.id for process in self.processes.values() if process.emitters]
        while todo:
            here = todo.pop()
            if here not in kept:
                kept.add(here)
                todo += self.processes[here].parents
        self.processes = {id: process for id, process in self.processes.items() if id in kept}

    def settle(self) -> None:
        """Put everything in one order, so that the same repository gives the same map."""
        self.processes = {id: self.processes[id] for id in sorted(self.processes)}
        for process in self.processes.values():
            process.parents.sort()
            process.starts.sort(key=lambda start: (start.path, start.line, start.how))
            process.emitters.sort(key=lambda emitter: (emitter.path, emitter.line, emitter.what, emitter.rule))

    def to_json(self) -> list[dict[str, Any]]:
        """As in the plan's JSON (`processes` in docs/plan.schema.json)."""
        return [process.to_json() for process in self.processes.values()]
