"""PI103 in a record: an axis that goes back while one process writes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from instrument.audit.record import Check, Seen
from instrument.audit.record._recorded import Recorded, number, some, steps_of


def _falls(steps: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """(before, after) where a step is smaller than the one before it in the same part."""
    return [
        (one[1], two[1]) for one, two in pairwise(steps)
        if one[0] == two[0] and two[1] < one[1]
    ]  # fmt: skip


def _see(run: Recorded) -> Iterator[Seen]:
    told: set[str] = set()
    for counter in run.counters:
        falls = _falls([(seat.part, seat.value) for seat in run.seats(counter)])
        if falls:
            plotted = [key for key in run.keys if key != counter and run.axis(key) == counter]
            told.update((counter, *plotted))
            on = f"; {some(plotted)} {'is' if len(plotted) == 1 else 'are'} plotted against it" if plotted else ""
            yield Seen(
                code="PI103", keys=(counter, *plotted), count=len(falls),
                message=f"{counter} goes back {_times(len(falls))}, first from {_pair(falls[0])}{on}",
            )  # fmt: skip
    by: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for key in run.keys:
        if key not in told and key not in run.counters and run.axis(key) not in run.axis_keys:
            falls = _falls(steps_of(run.seats(key)))
            if falls:
                by.setdefault(tuple(falls), []).append(key)
    for pattern, keys in by.items():
        yield Seen(
            code="PI103", keys=tuple(keys), count=len(pattern),
            message=f"the steps of {some(keys)} go back {_times(len(pattern))}, first from {_pair(pattern[0])}",
        )  # fmt: skip


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"


def _pair(fall: tuple[float, float]) -> str:
    return f"{number(fall[0])} to {number(fall[1])}"


CHECK = Check(
    code="PI103",
    title="an axis goes back",
    why="A step that is computed from a factor that changes (steps in this rollout times rollouts so far) is not monotone: "
    "the curve runs backwards, points of two moments share a place, and a tracker that keeps one point a step loses the other.",
    see=_see,
)
