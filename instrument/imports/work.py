"""Carries an import out: the runs that are not at Probe yet, one after the other, with progress; what was begun and
interrupted is done again. The command and the script that it generates both end here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from instrument import sdk
from instrument.errors import InstrumentError
from instrument.imports.find import runs
from instrument.imports.ledger import Ledger
from instrument.imports.model import Finished
from instrument.imports.send import Target, send

#: Called with a run and how many of its points were written so far.
Progress = Callable[[Finished, int], None]


@dataclass(slots=True)
class Outcome:
    """What became of each run, by external id."""

    imported: list[str] = field(default_factory=list)
    #: There before.
    already: list[str] = field(default_factory=list)
    #: Why not.
    failed: dict[str, str] = field(default_factory=dict)
    points: int = 0


def is_offline() -> bool:
    """Whether the environment asks the SDK to record offline."""
    return os.environ.get(sdk.MODE, "").strip().lower() == "offline"


def carry_out(
    found: Iterable[Finished], target: Target, ledger: Ledger, *, unfinished: bool = False,
    names: Mapping[str, str] | None = None, progress: Progress = lambda run, done: None,
) -> Outcome:  # fmt: skip
    """Import what is new. A run that fails does not stop the others.

    Raises InstrumentError where no run could be imported (no SDK, no token, another import at work).
    """
    outcome = Outcome()
    with ledger.locked():
        for one in found:
            if one.state in ("queued", "imported"):
                outcome.already.append(one.external_id)
                continue
            if one.state == "empty" or (one.state == "running" and not unfinished):
                continue
            ledger.drop_partial(one.external_id)
            done = 0

            def wrote(count: int, one: Finished = one) -> None:
                nonlocal done
                done += count
                progress(one, done)

            progress(one, 0)
            try:
                fresh = send(one, target, name=(names or {}).get(one.external_id), wrote=wrote)
            except InstrumentError as error:
                if error.code == "no-sdk" or (
                    not (outcome.imported or outcome.already or outcome.failed) and error.hint
                ):
                    raise
                outcome.failed[one.external_id] = error.message
                continue
            ledger.done(one.external_id, points=one.points, offline=target.offline)
            one.state = "queued" if target.offline else "imported"
            (outcome.imported if fresh else outcome.already).append(one.external_id)
            outcome.points += done
    return outcome


def from_script(
    folder: Path, chosen: Mapping[str, str], *, project: str | None = None, experiment: str | None = None,
    question: str | None = None,
) -> int:  # fmt: skip
    """What a generated script calls: import these runs (external id to name) of a folder. Returns the exit code."""
    from instrument.report.terminal import Screen

    screen = Screen(sys.stderr)
    ledger = Ledger()
    try:
        found = runs(folder, ledger)
        missing = set(chosen) - {one.external_id for one in found}
        for external_id in sorted(missing):
            screen.line(f"not found in this folder: {external_id}", "yellow")
        wanted = [one for one in found if one.external_id in chosen]
        target = Target(project=project, experiment=experiment, question=question, offline=is_offline())
        from instrument.imports.show import bar, told

        with bar(screen, wanted) as progress:
            outcome = carry_out(wanted, target, ledger, unfinished=True, names=chosen, progress=progress)
    except InstrumentError as error:
        screen.error(error)
        return 2
    except KeyboardInterrupt:
        screen.line("interrupted: run it again to go on")
        return 130
    told(screen, outcome, target)
    return 1 if outcome.failed or missing else 0
