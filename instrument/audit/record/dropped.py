"""PI202 in a record: points of a resumed Probe run that stand below its floor because another axis is ahead."""

from __future__ import annotations

from collections.abc import Iterator

from instrument.audit.record import Check, Seen
from instrument.audit.record._recorded import Recorded, number, some


def _see(run: Recorded) -> Iterator[Seen]:
    if run.tracker != "probe" or len(run.parts) < 2:
        return
    floor: float | None = None
    for part in range(1, len(run.parts)):
        lost: dict[str, int] = {}
        before = [
            seat.step for key in run.keys for seat in run.seats(key) if seat.part == part - 1 and seat.step is not None
        ]
        floor = max([*before, *([] if floor is None else [floor])], default=None)
        if floor is None:
            continue
        for key in run.keys:
            had = [seat.step for seat in run.seats(key) if seat.part < part and seat.step is not None]
            own = max(had, default=None)
            # What the key itself has reached was made again, or is PI104's: only new points count here.
            new = [seat for seat in run.seats(key) if seat.part == part and seat.step is not None]
            below = [
                seat
                for seat in new
                if seat.step is not None and seat.step <= floor and (own is None or seat.step > own)
            ]
            if below:
                lost[key] = len(below)
        if lost:
            yield Seen(
                code="PI202", keys=tuple(lost), count=sum(lost.values()),
                message=f"{some(list(lost))}: {sum(lost.values())} new points after the resume are at or below step "
                f"{number(floor)}, which the run had reached on another axis: Probe drops them",
            )  # fmt: skip


CHECK = Check(
    code="PI202",
    title="points below the floor of a resumed run",
    why="When a run is resumed, Probe takes no point at or below the highest step that the run had reached, whatever the "
    "key. Metrics on a smaller axis (rollouts beside training steps) are lost without a word.",
    see=_see,
)
