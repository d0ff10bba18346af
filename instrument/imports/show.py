"""What people see of an import: the table of runs, the progress bar, what was done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from instrument.report.text import plural, shown

if TYPE_CHECKING:
    from instrument.imports.hosted import Hosted
    from instrument.imports.model import Finished
    from instrument.imports.send import Target
    from instrument.imports.work import Outcome, Progress
    from instrument.report.terminal import Screen

#: State, how it reads in the table, its colour.
STATES = {
    "new": ("not at Probe", "green"),
    "partial": ("interrupted, will be done again", "yellow"),
    "running": ("may still be running", "yellow"),
    "queued": ("in the offline queue", "dim"),
    "imported": ("imported before", "dim"),
    "empty": ("nothing to read", "red"),
}


def table(screen: Screen, runs: Sequence[Finished]) -> None:
    """The runs with what can be read of each."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    made.add_column("tracker")
    made.add_column("run", overflow="fold", min_width=12)
    for name in ("steps", "keys", "points"):
        made.add_column(name, justify="right", no_wrap=True)
    made.add_column("tier")
    made.add_column("media", justify="right")
    made.add_column("at Probe", no_wrap=True)
    for one in runs:
        state, style = STATES[one.state]
        name = shown(f"{one.project}/{one.name}" if one.project else one.name)
        made.add_row(
            one.run.tracker, Text(name), f"{one.run.steps:,}", f"{len(one.run.series):,}", f"{one.points:,}",
            one.tier, f"{len(one.media):,}" if one.media else "", Text(state, style),
        )  # fmt: skip
    if not screen.is_terminal:
        screen.console.width = 200  # a log is not as narrow as the 80 columns that rich assumes
    screen.console.print(made)


def hosted(screen: Screen, found: Sequence[Hosted]) -> None:
    """W&B projects that the code names; what they hold is known to W&B only."""
    if not found:
        return
    screen.heading("W&B projects named here (importing them needs an account)")
    for one in found:
        screen.line(f"  {one.name}  {', '.join(one.at[:3])}")


@contextmanager
def bar(screen: Screen, runs: Sequence[Finished]) -> Iterator[Progress]:
    """A bar over the points of all runs, on a terminal; elsewhere a line a run."""
    total = sum(one.points for one in runs if one.state in ("new", "partial", "running"))
    if not screen.is_terminal:

        def line(run: Finished, done: int) -> None:
            if done == run.points:
                screen.line(f"{run.run.tracker} {run.name}: {plural(done, 'point')}")

        yield line
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen.console, transient=True) as progress:
        task = progress.add_task("importing", total=total)
        before: dict[str, int] = {}

        def show(run: Finished, done: int) -> None:
            advance = done - before.get(run.external_id, 0)
            before[run.external_id] = done
            progress.update(task, description=shown(run.name)[:30], advance=advance)

        yield show


def told(screen: Screen, outcome: Outcome, target: Target) -> None:
    """What was done, and what to do next."""
    done = f"{plural(len(outcome.imported), 'run')} imported, {plural(outcome.points, 'point')}"
    screen.line(done + (f"; {plural(len(outcome.already), 'run')} there before" if outcome.already else ""), "green")
    for external_id, why in outcome.failed.items():
        screen.paragraph(f"not imported: {external_id}: {why}", indent="  ", first="", style="red")
    if target.offline and outcome.imported:
        screen.line("they wait in the SDK's offline queue: `probe sync` delivers them")
