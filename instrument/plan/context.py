"""What a rule is given while a plan is made: the repository, its names, and the ways to say what it found."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from instrument.plan.codes import next_of
from instrument.plan.edits import Applicability, Edit, NewFile, Strategy
from instrument.plan.model import Note, Outcome, Plan, Site, SiteKind
from instrument.plan.tracking_module import TrackingModule

if TYPE_CHECKING:
    from instrument.plan.twice import Row
    from instrument.repo.names import Module, Program
    from instrument.repo.scan import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the person asked for."""

    #: Only this strategy, or None for the best at each site.
    strategy: Strategy | None = None
    project: str | None = None
    experiment: str | None = None
    question: str | None = None
    name: str | None = None
    #: Rules to use or to leave out, by name; empty means all.
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    #: Also each sample of a rollout (Miles, slime), and its own measurements: (name, dotted path in the sample).
    per_sample: bool = False
    sample_metrics: tuple[tuple[str, str], ...] = ()
    #: Also give platforms that know only a run's state a hook that tells Probe.
    push: bool = False
    #: Put the commands of trainers that have no code in the repository in `probe exec`.
    exec: bool = False
    #: Give the module that is written a check of each emitting process, which an environment variable turns on.
    preflight: bool = False
    extra: dict[str, str] = field(default_factory=dict)


class Context:
    """One per plan. Rules add sites, edits and notes through it; order of additions is order in the plan."""

    def __init__(self, repo: Repository, program: Program, options: Options) -> None:
        self.repo = repo
        self.program = program
        self.options = options
        self.plan = Plan(root=str(repo.root))
        #: The generated module: which parts of it the edits use, and from which files.
        self.tracking = TrackingModule(self)
        #: Spans (path, start, end) whose emission already reaches Probe by another door, so that it is not sent twice.
        self._claimed: dict[tuple[str, int], str] = {}
        #: By file, the rows that trackers send and that Probe gets beside them (see `twice.py`).
        self.sent: dict[str, list[Row]] = {}
        #: A shape opened runs by a registered callback or logger: emissions with a step join that run.
        self.opened_elsewhere = False
        #: What shapes say the step of their callback's run is at a place (`state.global_step`), None where they can't.
        self.own_steps: list[Callable[[Module, ast.AST], str | None]] = []

    # -- what was found -------------------------------------------------------------------------------------------

    def site(
        self,
        rule: str,
        kind: SiteKind,
        module: Module,
        node: ast.AST,
        what: str,
        *,
        process: str = "main",
        outcome: Outcome = "found",
        strategy: Strategy | None = None,
        why: str = "",
    ) -> Site:
        """Record a place that matters. Its outcome may be set later by the rule that wires it."""
        line = module.source.line_of(module.start(node))
        found = Site(
            rule=rule, kind=kind, path=module.path, line=line, what=what, process=process, node=node, outcome=outcome,
            strategy=strategy, why=why,
        )  # fmt: skip
        self.plan.sites.append(found)
        return found

    def claim(self, path: str, offset: int, rule: str) -> bool:
        """Take an emission (by the offset its call starts at). False if another rule has it: then leave it alone."""
        return self._claimed.setdefault((path, offset), rule) == rule

    def claimed(self, path: str, offset: int) -> str | None:
        """The rule that has an emission, if any."""
        return self._claimed.get((path, offset))

    def note(
        self,
        level: Literal["question", "refusal", "warning", "info"],
        code: str,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        next: str = "",
    ) -> None:
        """Say something to the person; the same note is said once. Without a next step it gets that of its code."""
        note = Note(level=level, code=code, message=message, path=path, line=line, next=next or next_of(code))
        if note not in self.plan.notes:
            self.plan.notes.append(note)

    def found(self, shape: str, form: str = "") -> None:
        """Name a shape or tracker that the repository has, with its version form."""
        self.plan.shapes[shape] = form or self.plan.shapes.get(shape, "")

    def pass_over(self, strategy: Strategy, why: str) -> None:
        """Say why a strategy that comes earlier in the order was not used."""
        if (strategy, why) not in self.plan.passed_over:
            self.plan.passed_over.append((strategy, why))

    # -- what changes ---------------------------------------------------------------------------------------------

    def edit(
        self,
        path: str,
        start: int,
        end: int,
        text: str,
        *,
        reason: str,
        rule: str,
        applicability: Applicability = "safe",
        group: str = "",
        moved: bool = False,
    ) -> Edit:
        """Add one edit (offsets into the source's text). An equal edit is added once."""
        edit = Edit(
            path=path, start=start, end=end, text=text, reason=reason, rule=rule, applicability=applicability,
            group=group, moved=moved,
        )  # fmt: skip
        if edit not in self.plan.edits:
            self.plan.edits.append(edit)
        return edit

    def new_file(
        self, path: str, text: str, *, reason: str, rule: str, applicability: Applicability = "safe",
        replaces: str | None = None,
    ) -> NewFile:  # fmt: skip
        """Add a file to the plan."""
        new = NewFile(path=path, text=text, reason=reason, rule=rule, applicability=applicability, replaces=replaces)
        self.plan.new_files.append(new)
        return new

    def paths(self, *needles: bytes, also: tuple[bytes, ...] = ()) -> list[str]:
        """Python files and notebooks that contain a needle (and one of `also`, if given) and may be edited."""
        paths = set(self.repo.having(*needles))
        if also:
            paths &= set(self.repo.having(*also))
        return [path for path in sorted(paths) if _may_be_python(path) and self.repo.editable(path)]

    def modules(
        self,
        *needles: bytes,
        also: tuple[bytes, ...] = (),
        where: Callable[[bytes], object] | None = None,
    ) -> list[Module]:
        """The same, parsed. Only these are parsed: what other people's code and tests say is never asked for.

        `where` looks at a file's bytes: what it says no to is not parsed.
        """
        paths = self.paths(*needles, also=also)
        if where is not None:
            paths = [path for path in paths if where(self.repo.read(path))]
        return self.program.parsed(paths)

    def skipped(self, *needles: bytes) -> Iterable[tuple[str, str]]:
        """(path, kind) of Python files and notebooks with a needle that are left alone: vendored, generated, tests."""
        for path in self.repo.having(*needles, suffixes=(".py", ".ipynb")):
            kind = self.repo.kind(path)
            if kind != "own":
                yield path, kind


def _may_be_python(path: str) -> bool:
    """By name: a module, a notebook, or a script without a suffix."""
    return path.endswith((".py", ".ipynb")) or "." not in path.rpartition("/")[2]
