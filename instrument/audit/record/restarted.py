"""PI104 and PI201 in a record: what a resume did to the counters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from instrument.audit.record import Check, Seen
from instrument.audit.record._recorded import Recorded, number, some, steps_of


def _see(run: Recorded) -> Iterator[Seen]:
    again: dict[tuple[float, float, float], list[str]] = {}
    redone: dict[tuple[float, float], list[str]] = {}
    told: set[str] = set()
    for key in [*run.counters, *(key for key in run.keys if key not in run.counters)]:
        if run.axis(key) in told:
            continue
        if key in run.counters:
            sequence = [(seat.part, seat.value) for seat in run.seats(key)]
        else:
            sequence = steps_of(run.seats(key))
        for before, after in _resumes(sequence):
            first, last, begun = min(before), max(before), after[0]
            if begun > last:
                continue
            if begun <= first and last > first:
                again.setdefault((first, last, begun), []).append(key)
            elif len(set(after)) > 1 or begun < last:
                redone.setdefault((begun, last), []).append(key)
            if key in run.axis_keys:
                told.add(key)
            break
    for (_, last, begun), keys in again.items():
        yield Seen(
            code="PI104", keys=tuple(keys), count=len(keys),
            message=f"{some(keys)}: begun again at {number(begun)} after the resume, having been at {number(last)}",
        )  # fmt: skip
    for (begun, last), keys in redone.items():
        yield Seen(
            code="PI201", level="note", keys=tuple(keys), count=len(keys),
            message=f"{some(keys)}: steps {number(begun)} to {number(last)} were made again after the resume, from an older "
            "checkpoint",
        )  # fmt: skip


def _resumes(sequence: Sequence[tuple[int, float]]) -> Iterator[tuple[list[float], list[float]]]:
    """The values before and after each change of part."""
    for index in range(1, len(sequence)):
        part = sequence[index][0]
        if part != sequence[index - 1][0]:
            yield [v for _, v in sequence[:index]], [v for p, v in sequence[index:] if p == part]


CHECK = Check(
    code="PI104",
    title="a counter begins again after a resume",
    why="A counter that is no part of the checkpoint starts from its first value when the run is resumed. Its points then "
    "lie on those of the first part, and Probe and W&B keep only one of two points at a step.",
    see=_see,
)
