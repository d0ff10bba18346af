"""What a plan holds: the sites that were found, what happens to each, the edits, and what a person must decide."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Literal

from instrument.plan.edits import Edit, NewFile, Strategy
from instrument.repo.processes import ProcessMap

#: open: a run is opened. emit: metrics are sent. close: a run is closed. build: a trainer, logger or tracker object is
#: built. registry: the place where a framework lists its backends. launch: a command that starts a process.
SiteKind = Literal["open", "emit", "close", "build", "registry", "launch"]

#: covered: Probe gets it. already: it was instrumented before. asked: a person must decide. refused: it can't be done
#: safely. left: nothing to mirror (media, no counterpart). skipped: vendored, generated, tests.
Outcome = Literal["found", "covered", "already", "asked", "refused", "left", "skipped"]


@dataclass(slots=True, kw_only=True, eq=False)
class Site:
    """A place in a source that matters."""

    rule: str
    kind: SiteKind
    path: str
    line: int
    #: What is there, in a few words: "wandb.log", "Trainer(...)", "ray job submit".
    what: str
    #: The interpreter it runs in: "main", "torchrun rank", "Ray actor Foo", ...
    process: str = "main"
    #: The syntax node, for rules; never serialised.
    node: ast.AST | None = None
    outcome: Outcome = "found"
    strategy: Strategy | None = None
    #: Why the outcome is what it is, one sentence.
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """Something a person should read: a question, a refusal, a warning or plain information.

    `code` is stable (kebab-case), `message` a sentence, `next` the command or action that helps.
    """

    level: Literal["question", "refusal", "warning", "info"]
    code: str
    message: str
    path: str | None = None
    line: int | None = None
    next: str = ""


@dataclass(slots=True, kw_only=True)
class Plan:
    """All edits for one repository, with the evidence behind them."""

    root: str
    sites: list[Site] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    new_files: list[NewFile] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    #: Shapes and trackers found, by id, with a version form where there is one ("miles", "registry in tracking.py").
    shapes: dict[str, str] = field(default_factory=dict)
    #: Which interpreter each emitting site runs in, and what starts it.
    processes: ProcessMap = field(default_factory=ProcessMap)
    #: Why each strategy that was passed over was, in order.
    passed_over: list[tuple[Strategy, str]] = field(default_factory=list)
    #: sha256 of each source that an edit touches, as it was planned on.
    hashes: dict[str, str] = field(default_factory=dict)
    files_seen: int = 0
    files_parsed: int = 0
    #: Wall time of the plan, seconds.
    seconds: float = 0.0

    @property
    def empty(self) -> bool:
        """Nothing to write."""
        return not self.edits and not self.new_files
