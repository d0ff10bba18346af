"""What a record showed, as text, JSON, SARIF and GitHub's annotations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from instrument.report import sarif
from instrument.report.text import plural

if TYPE_CHECKING:
    from instrument.audit.record import Check, Seen
    from instrument.audit.record._recorded import Recorded
    from instrument.report.terminal import Screen

SCHEMA = "instrument.audit-record/1"
_LEVELS = {"warning": "warning", "note": "notice"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """All runs of a record with what each shows."""

    target: str
    runs: list[Recorded]
    seen: list[tuple[Recorded, Seen]]
    checks: tuple[Check, ...]

    @property
    def found(self) -> bool:
        """Whether anything is more than a note."""
        return any(one.level == "warning" for _, one in self.seen)


def write_text(screen: Screen, judged: Judged, *, quiet: bool, verbose: bool) -> None:
    """One line for what is seen, by run; with `verbose` the keys it is about."""
    for run, one in judged.seen:
        mark = " note:" if one.level == "note" else ""
        screen.line(f"{run.path}: {one.code}{mark} {one.message}")
        if verbose:
            for key in one.keys:
                screen.line(f"    {key}")
    if quiet:
        return
    for run in judged.runs:
        for part in run.parts:
            for lost in part.damage:
                screen.line(f"{run.path}: not read: {lost}", "yellow")
    points = sum(part.size for run in judged.runs for part in run.parts)
    keys = sum(len(run.keys) for run in judged.runs)
    read = f"{plural(len(judged.runs), 'run')}, {plural(keys, 'key')}, {plural(points, 'point')} read"
    counts = Counter(one.code for _, one in judged.seen if one.level == "warning")
    if counts:
        screen.line()
        told = ", ".join(f"{code} {count}" for code, count in sorted(counts.items()))
        screen.line(f"{plural(sum(counts.values()), 'finding')} ({told}); {read}", "bold")
    else:
        screen.line(f"nothing found; {read}", "green")


def document(judged: Judged) -> dict[str, Any]:
    """The JSON document (`docs/audit-record.schema.json`)."""
    counts = Counter(one.code for _, one in judged.seen if one.level == "warning")
    return {
        "schema": SCHEMA,
        "command": "audit",
        "outcome": "found" if judged.found else "clean",
        "record": judged.target,
        "runs": [
            {
                "path": run.path,
                "id": run.id,
                "name": run.name,
                "tracker": run.tracker,
                "parts": len(run.parts),
                "keys": len(run.keys),
                "points": sum(part.size for part in run.parts),
                "damage": [lost for part in run.parts for lost in part.damage],
            }
            for run in judged.runs
        ],
        "counts": {code: counts[code] for code in sorted(counts)},
        "findings": [
            {
                "code": one.code,
                "level": one.level,
                "message": one.message,
                "path": run.path,
                "run": run.id,
                "tracker": run.tracker,
                "keys": list(one.keys),
                "count": one.count,
            }
            for run, one in judged.seen
        ],
    }


def log(judged: Judged) -> bytes:
    """The SARIF log: a run's file is the place of what it shows."""
    by_code: dict[str, list[Check]] = {}
    for check in judged.checks:
        by_code.setdefault(check.code, []).append(check)
    used = {one.code for _, one in judged.seen}
    rules: list[dict[str, Any]] = [
        {
            "id": code,
            "shortDescription": {"text": checks[0].title},
            "fullDescription": {"text": checks[0].why},
        }
        for code, checks in sorted(by_code.items())
    ]
    rules += [{"id": code} for code in sorted(used - by_code.keys())]
    results = [sarif.result_of(one.code, one.level, one.message, run.path) for run, one in judged.seen]
    return sarif.document(rules, results)


def github(judged: Judged) -> list[str]:
    """GitHub workflow commands, one a line."""
    return [
        sarif.annotation(_LEVELS[one.level], None, None, f"{run.path}: {one.code} {one.message}")
        for run, one in judged.seen
    ]
