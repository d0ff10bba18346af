"""One reading of a plan that every report is made from: terminal, Markdown, JSON and SARIF say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from instrument.plan.edits import Edit, NewFile
from instrument.plan.model import Note, Outcome, Plan, Site

if TYPE_CHECKING:
    from instrument.patch.proofs import Proof
    from instrument.repo.scan import Repository

#: How outcomes are named for people, in the order they are told.
OUTCOMES: dict[Outcome, str] = {
    "covered": "recorded by Probe with this change",
    "already": "recorded by Probe already",
    "asked": "need a decision",
    "refused": "can't be done safely",
    "left": "have no counterpart at Probe",
    "found": "seen, not changed",
    "skipped": "in files that are left alone",
}

#: The planner notes each file that it leaves alone under a code that starts so and ends in the file's kind.
SKIPPED = "skipped-"
KINDS = {"vendored": "vendored or installed code", "generated": "generated", "tests": "tests"}


@dataclass(slots=True)
class Touched:
    """What happens to one file."""

    path: str
    edits: list[Edit] = field(default_factory=list)
    new: NewFile | None = None

    @property
    def explained(self) -> list[Edit]:
        """The edits in the order of the file, without those that only put a name where its value was bound before."""
        return sorted((edit for edit in self.edits if not edit.moved), key=lambda edit: edit.start)

    @property
    def reasons(self) -> list[str]:
        """Why, each reason once, in the order of the file."""
        found = [edit.reason for edit in self.explained]
        return list(dict.fromkeys([*([self.new.reason] if self.new else []), *found]))

    @property
    def review(self) -> bool:
        """Whether a person should look at one of its edits more closely."""
        new = self.new is not None and self.new.applicability == "review"
        return new or any(edit.applicability == "review" for edit in self.edits)


class Summary:
    """A plan with what can be read off it. `repo` gives line numbers; `proofs` are those that were made of it."""

    def __init__(self, plan: Plan, repo: Repository, proofs: Sequence[Proof] = ()) -> None:
        self.plan = plan
        self.repo = repo
        self.proofs = proofs

    @cached_property
    def shapes(self) -> list[tuple[str, str]]:
        """(title, version form) of each shape and tracker found."""
        from instrument.plan.rules import all_rules

        titles = {rule.name: rule.title for rule in all_rules()}
        return [(titles.get(name, name), form) for name, form in self.plan.shapes.items()]

    @cached_property
    def files(self) -> list[Touched]:
        """Changed files first, then new ones, by path."""
        changes: dict[str, Touched] = {}
        for edit in self.plan.edits:
            changes.setdefault(edit.path, Touched(edit.path)).edits.append(edit)
        for new in self.plan.new_files:
            changes.setdefault(new.path, Touched(new.path)).new = new
        return sorted(changes.values(), key=lambda change: (change.new is not None, change.path))

    @cached_property
    def outcomes(self) -> dict[Outcome, list[Site]]:
        """Sites by outcome, in the order of OUTCOMES, without those there are none of."""
        by: dict[Outcome, list[Site]] = {}
        for outcome in OUTCOMES:
            sites = [site for site in self.plan.sites if site.outcome == outcome]
            if sites:
                by[outcome] = sorted(sites, key=lambda site: (site.path, site.line))
        return by

    def notes(self, level: str) -> list[Note]:
        """Notes of a level, without those that say which files were left alone (`skipped` has them)."""
        return [note for note in self.plan.notes if note.level == level and not note.code.startswith(SKIPPED)]

    @cached_property
    def skipped(self) -> list[tuple[str, str]]:
        """(path, kind) of every file that holds a tracker or framework but is not ours to edit."""
        codes = {f"{SKIPPED}{kind}": kind for kind in KINDS}
        notes = {note.path: codes[note.code] for note in self.plan.notes if note.path and note.code in codes}
        return sorted(notes.items())

    def grouped_skipped(self, at_most: int) -> list[tuple[str, str, int]]:
        """(path, kind, number of files) of what was skipped: each file, or by folder where there are more of them."""
        if len(self.skipped) <= at_most:
            return [(path, kind, 1) for path, kind in self.skipped]
        folders = Counter((_top(path), kind) for path, kind in self.skipped)
        return [(top, kind, count) for (top, kind), count in sorted(folders.items())]

    @cached_property
    def covered(self) -> int:
        return len(self.outcomes.get("covered", []))

    @property
    def already(self) -> bool:
        """Nothing to write because it was done before."""
        return self.plan.empty and "already" in self.outcomes

    @property
    def blocked(self) -> bool:
        """Nothing to write although there was something to do: it was refused, or a person must decide first."""
        unsettled = self.notes("refusal") or self.outcomes.keys() & {"refused", "asked"}
        return self.plan.empty and "already" not in self.outcomes and bool(unsettled)

    @property
    def outcome(self) -> str:
        """What there is to do: "found" (something), "refused" (something that can't be done) or "clean"."""
        return "refused" if self.blocked else "clean" if self.plan.empty else "found"

    def line(self, edit: Edit) -> int:
        """The line (from 1) of the file at which an edit starts."""
        source = self.repo.source(edit.path)
        file_line: Callable[[int], int] = getattr(source, "file_line", source.line_of)  # a notebook's own
        return file_line(edit.start)

    def next_steps(self, applied: bool) -> list[tuple[str, str]]:
        """(command or action, why) for what to do after this."""
        target = str(self.repo.target)
        if self.plan.empty:
            return []
        if not applied:
            return [(f"instrument apply {_word(target)}", "shows the change again, asks, writes it")]
        steps = [
            (f"instrument verify {_word(target)} -- COMMAND", "runs the trainer offline and compares both records"),
            ("export PROBE_TOKEN=…", "where it runs; without it training goes on, unrecorded"),
            (f"instrument undo {_word(target)}", "takes everything back, byte for byte"),
        ]
        return steps


def _top(path: str) -> str:
    """The folder to report a skipped file under: up to the folder that makes it vendored, generated or tests."""
    from instrument.repo.scan import GENERATED, TESTS, VENDORED

    folders = path.split("/")[:-1]
    for depth, folder in enumerate(folders, 1):
        if folder.lower() in VENDORED | GENERATED | TESTS:
            return "/".join(folders[:depth]) + "/"
    return "/".join(folders[:1]) + "/" if folders else path


def _word(text: str) -> str:
    import shlex

    return shlex.quote(text)
