"""One verification from start to end: run, compare, explain. What the command line, the magic and the tests call."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from instrument.verify.cause import likely_cause
from instrument.verify.compare import Comparison, Rules, compare
from instrument.verify.places import emitting_places
from instrument.verify.run import Outcome, Request, room, run

if TYPE_CHECKING:
    from instrument.verify.against import Against


@dataclass(slots=True, kw_only=True)
class Verification:
    """What was run, what both sides recorded, and how they compare."""

    command: list[str]
    path: Path
    folder: Path
    outcome: Outcome
    comparison: Comparison
    #: What a person should read beside the table.
    notes: list[str] = field(default_factory=list)
    against: Against | None = None

    @property
    def passed(self) -> bool:
        """Everything compared was equal, the command itself did not fail, and `--against` found no change."""
        unchanged = self.against is None or self.against.unchanged
        return self.comparison.equal and not self.outcome.failed and unchanged


def verify(request: Request, path: Path, *, tolerance: float = 0.0, ignore: tuple[str, ...] = ()) -> Verification:
    """Run the request's command once and compare what Probe recorded with what the trackers did.

    `path` is the repository, in which emitting lines are looked up. Raises InstrumentError where the command can't be
    started; a command that fails is a result.
    """
    outcome = run(request)
    comparison = compare(outcome.probe, outcome.trackers, rules_for(outcome, tolerance, ignore))
    explain(comparison, outcome, path)
    return Verification(
        command=list(request.command),
        path=path,
        folder=request.folder,
        outcome=outcome,
        comparison=comparison,
        notes=notes(outcome, comparison, request.folder),
    )


def rules_for(outcome: Outcome, tolerance: float = 0.0, ignore: tuple[str, ...] = ()) -> Rules:
    """How strictly to compare the records of a command that ended like this."""
    cut = math.inf if outcome.killed else 1.0 if outcome.stopped or outcome.failed else 0.0
    return Rules(tolerance=tolerance, cut=cut, ignore=ignore)


def explain(comparison: Comparison, outcome: Outcome, path: Path) -> None:
    """Add the emitting lines of keys that are not equal, and the causes of runs that are not there."""
    wrong = [key for run in comparison.runs for key in run.keys if key.verdict not in ("equal", "only at Probe")]
    places = emitting_places(path, (key.key for key in wrong)) if wrong else {}
    for key in wrong:
        key.place = places.get(key.key)
        if key.place is None and key.verdict == "missing at Probe" and not key.detail:
            key.detail = "emitted by a framework or under a computed name"
    for result in comparison.runs:
        if result.verdict == "nothing recorded":
            result.cause = likely_cause(result, outcome, path)
        elif result.again:
            where = ", ".join(str(run.process) for run in result.again)
            result.cause = f"{len(result.again)} more Probe run(s) hold the same points: {where}"


def notes(outcome: Outcome, comparison: Comparison, folder: Path) -> list[str]:
    """Sentences about how the command ended and what the records say of themselves."""
    found: list[str] = []
    if outcome.stopped:
        why = {"steps": "after enough steps", "timeout": "at the time limit", "interrupt": "by an interrupt"}
        found.append(f"the command was stopped {why[outcome.stopped]}; compared is what was recorded until then")
    elif outcome.failed:
        found.append(f"the command failed with exit code {outcome.exit_code}; compared is what was recorded until then")
    if outcome.killed:
        found.append("the command did not end when asked and was killed: the ends of the records may be missing")
    if outcome.stray:
        found.append(f"processes outlived the command and were ended: {', '.join(outcome.stray)}")
    if not comparison.runs:
        if outcome.probe:
            found.append("no tracker recorded anything, so there is nothing to compare Probe's record with")
        else:
            found.append("neither Probe nor a tracker recorded anything")
    for record in (*outcome.probe, *outcome.trackers):
        found += [f"{record.tracker} run {record.name or record.id}: {text}" for text in record.damage[:3]]
    if outcome.stopped is None:
        found += [
            f"Probe run {record.name or record.id} was never closed ({record.process})"
            for record in outcome.probe
            if record.status is None
        ]
    if short := room(folder):
        found.append(short)
    return found
