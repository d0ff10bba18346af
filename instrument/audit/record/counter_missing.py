"""PI102 in a record: rows without the counter that their metrics are declared to plot against; an axis never written."""

from __future__ import annotations

from collections.abc import Iterator

from instrument.audit.record import Check, Seen
from instrument.audit.record._recorded import Recorded, some


def _see(run: Recorded) -> Iterator[Seen]:
    written = set(run.keys)
    for axis in sorted(run.axis_keys - written):
        yield Seen(code="PI102", keys=(axis,), count=1, message=f"{axis} is declared as an axis and never written")
    by: dict[str, tuple[list[str], int, int]] = {}
    for key in run.keys:
        axis = run.axis(key)
        if axis == key or axis not in run.axis_keys or axis not in written:
            continue
        beside = {(seat.part, seat.step) for seat in run.seats(axis, run.own_step)}
        own = run.seats(key, run.own_step)
        lacking = [seat for seat in own if (seat.part, seat.step) not in beside]
        if lacking:
            keys, count, points = by.setdefault(axis, ([], 0, 0))
            keys.append(key)
            by[axis] = (keys, count + len(lacking), points + len(own))
    for axis, (keys, count, points) in by.items():
        yield Seen(
            code="PI102", keys=tuple(keys), count=count,
            message=f"{some(keys)}: {count} of {points} points were logged without {axis}, which they are to plot against",
        )  # fmt: skip


CHECK = Check(
    code="PI102",
    title="logged without its counter",
    why="A row that lacks the counter has no place on the chart's axis: the point is left out, or is drawn at the value "
    "that the counter had the last time. Charts with different axes then show different numbers of points.",
    see=_see,
)
