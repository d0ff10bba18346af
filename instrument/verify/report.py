"""A verification as a table on the terminal and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from instrument.verify.compare import KeyResult, RunResult
from instrument.verify.model import Process, Run, Series, Step
from instrument.verify.session import Verification

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_STYLES = {
    "equal": "green",
    "only at Probe": "dim",
    "missing at Probe": "red",
    "nothing recorded": "red",
    "twice": "red",
    "different step axis": "yellow",
    "different values": "yellow",
}


def shown(text: object) -> str:
    """Text of a record for a terminal: no control characters, no markup, no line breaks."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in str(text))


def number(value: float | None) -> str:
    """A value as short as its float allows: what is different must look different."""
    return "nothing" if value is None else repr(value)


def step_text(step: Step) -> str:
    """A step for people."""
    return "no step" if step is None else f"step {step}"


def _first(key: KeyResult) -> str:
    if key.first is None:
        return ""
    return f"{step_text(key.first.step)}: {number(key.first.tracker)} / {number(key.first.probe)}"


def _count(series: Series | None) -> str:
    return str(len(series.values)) if series is not None else "0"


def table(result: RunResult) -> Table:
    """The keys of one run."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold", expand=True)
    grid.add_column("key", overflow="fold")
    grid.add_column("verdict", no_wrap=True)
    grid.add_column(result.tracker.tracker, justify="right", no_wrap=True)
    grid.add_column("probe", justify="right", no_wrap=True)
    grid.add_column("first difference", overflow="fold", ratio=1)
    for key in result.keys:
        said = "; ".join(part for part in (_first(key), key.detail, key.place and f"emitted at {key.place}") if part)
        grid.add_row(
            Text(shown(key.key)),
            Text(key.verdict, _STYLES[key.verdict]),
            _count(key.tracker),
            _count(key.probe),
            Text(shown(said)),
        )
    return grid


def _title(run: Run) -> str:
    name = f" «{shown(run.name)}»" if run.name else ""
    where = f", {run.process.role}" if run.process.role else ""
    return f"{run.tracker} run {shown(run.id[:40])}{name}{where}"


def show(verification: Verification, console: Console) -> None:
    """Print the report for a person."""
    from rich.text import Text

    comparison = verification.comparison
    for result in comparison.runs:
        console.print()
        line = Text(_title(result.tracker))
        line.append(f" against {_title(result.probe)}" if result.probe else " has no run at Probe")
        console.print(line)
        if result.keys:
            console.print(table(result))
        if result.cause:
            console.print(Text(shown(result.cause), _STYLES[result.verdict]))
    for run in comparison.only_at_probe:
        console.print(Text(f"only at Probe: {_title(run)}, {run.size} points under {len(run.series)} keys", "dim"))
    console.print()
    for note in verification.notes:
        console.print(Text(f"note: {shown(note)}"))
    if verification.against is not None:
        from instrument.verify.against import lines

        for text in lines(verification.against):
            console.print(Text(shown(text)))
    console.print(Text(summary(verification), "bold green" if verification.passed else "bold red"))


def summary(verification: Verification) -> str:
    """The result in one line."""
    comparison, outcome = verification.comparison, verification.outcome
    keys = [key for run in comparison.runs for key in run.keys if key.verdict != "only at Probe"]
    points = sum(len(key.tracker.values) for key in keys if key.tracker is not None)
    if not comparison.runs:
        return "nothing to compare"
    if comparison.equal:
        text = f"equal: {points} points of {len(keys)} keys in {len(comparison.runs)} run(s) are the same at Probe"
        return text if not outcome.failed else f"{text}, but the command failed with exit code {outcome.exit_code}"
    wrong = sum(key.verdict != "equal" for key in keys)
    lost = sum(run.verdict == "nothing recorded" for run in comparison.runs)
    parts = [f"{wrong} of {len(keys)} keys differ" if wrong else "", f"{lost} run(s) are not at Probe" if lost else ""]
    return f"{comparison.verdict}: {', '.join(part for part in parts if part) or 'see above'}"


def _json_number(value: float | None) -> float | str | None:
    # JSON has no NaN and no infinities; a parser that is strict must be able to read this.
    return value if value is None or math.isfinite(value) else str(value)


def _process(process: Process) -> dict[str, Any]:
    return {"pid": process.pid, "role": process.role or None}


def _run(run: Run | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "id": run.id,
        "tracker": run.tracker,
        "name": run.name,
        "status": run.status,
        "points": run.size,
        "keys": len(run.series),
        "process": _process(run.process),
        "damage": run.damage,
    }


def _key(key: KeyResult) -> dict[str, Any]:
    first = None
    if key.first is not None:
        values = {"tracker": _json_number(key.first.tracker), "probe": _json_number(key.first.probe)}
        first = {"step": key.first.step, **values}
    return {
        "key": key.key,
        "probe_key": key.probe_key,
        "verdict": key.verdict,
        "axis": key.axis,
        "tracker_points": len(key.tracker.values) if key.tracker else 0,
        "probe_points": len(key.probe.values) if key.probe else 0,
        "first_difference": first,
        "detail": key.detail or None,
        "place": key.place,
    }


def as_json(verification: Verification) -> dict[str, Any]:
    """The report as plain data (`instrument.verify/1`)."""
    outcome, comparison = verification.outcome, verification.comparison
    data: dict[str, Any] = {
        "schema": "instrument.verify/1",
        "verdict": comparison.verdict if comparison.runs else "nothing to compare",
        "passed": verification.passed,
        "command": verification.command,
        "path": str(verification.path),
        "records": str(verification.folder),
        "exit_code": outcome.exit_code,
        "stopped": outcome.stopped,
        "killed": outcome.killed,
        "seconds": round(outcome.seconds, 3),
        "stray": outcome.stray,
        "runs": [
            {
                "tracker": _run(result.tracker),
                "probe": _run(result.probe),
                "verdict": result.verdict,
                "cause": result.cause or None,
                "again": [_run(run) for run in result.again],
                "keys": [_key(key) for key in result.keys],
            }
            for result in comparison.runs
        ],
        "only_at_probe": [_run(run) for run in comparison.only_at_probe],
        "notes": verification.notes,
    }
    if verification.against is not None:
        from instrument.verify.against import as_data

        data["against"] = as_data(verification.against)
    return data
