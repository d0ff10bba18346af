"""PI108 in a record: a key once more at a step it has, and several axes in one run of Probe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from instrument.audit.record import Check, Seen
from instrument.audit.record._recorded import Recorded, number, some, steps_of

#: What becomes of the second point.
_KEPT = {"probe": "Probe keeps the first", "wandb": "the chart draws both"}


def _see(run: Recorded) -> Iterator[Seen]:
    yield from _duplicates(run)
    if run.tracker == "probe":
        yield from _axes(run)


def _duplicates(run: Recorded) -> Iterator[Seen]:
    by: dict[tuple[tuple[int, float], ...], list[str]] = {}
    counts: Counter[tuple[tuple[int, float], ...]] = Counter()
    for key in run.keys:
        # Where everything stands at 0 for want of a step, PI101 says so. A counter's own repeats are W&B's doing.
        steps = steps_of(run.seats(key))
        if key in run.axis_keys or len({step for _, step in steps}) < 2:
            continue
        twice = Counter(steps)
        again = tuple(step for step, times in twice.items() if times > 1)
        if again:
            by.setdefault(again, []).append(key)
            counts[again] += sum(times - 1 for times in twice.values() if times > 1)
    kept = _KEPT.get(run.tracker, "the second hides the first or is drawn over it")
    for again, keys in by.items():
        at = some(list(dict.fromkeys(number(step) for _, step in again)), 3)
        yield Seen(
            code="PI108", keys=tuple(keys), count=counts[again],
            message=f"{some(keys)}: {counts[again]} {'point' if counts[again] == 1 else 'points'} at a step that the key had "
            f"already (at {at}); {kept}",
        )  # fmt: skip


def _axes(run: Recorded) -> Iterator[Seen]:
    """Keys that are logged at steps far below what the run has reached: on an axis of their own."""
    reached: dict[int, float] = {}
    low: Counter[str] = Counter()
    total: Counter[str] = Counter()
    last: dict[str, float] = {}
    falling: set[str] = set()
    points = sorted(
        (seat.part, seat.wall if seat.wall is not None else 0.0, seat.step, key)
        for key in run.keys
        for seat in run.seats(key)
        if seat.step is not None
    )
    for part, _, step, key in points:
        if step < last.get(f"{part} {key}", step):
            falling.add(key)  # PI103's
        last[f"{part} {key}"] = step
        total[key] += 1
        if step < reached.get(part, step):
            low[key] += 1
        reached[part] = max(step, reached.get(part, step))
    behind = [key for key in run.keys if key not in falling and low[key] > 1 and low[key] * 2 > total[key]]
    if behind:
        ahead = [key for key in run.keys if key not in behind and not low[key]]
        highest = max(reached.values())
        own = max(seat.step for key in behind for seat in run.seats(key) if seat.step is not None)
        yield Seen(
            code="PI108", keys=tuple(behind), count=len(behind),
            message=f"several axes in one run: {some(behind)} {'is' if len(behind) == 1 else 'are'} at {number(own)} when "
            f"{some(ahead, 2) or 'others'} {'is' if len(ahead) == 1 else 'are'} at {number(highest)}; after a resume Probe "
            "takes no point below the highest step of the run",
        )  # fmt: skip


CHECK = Check(
    code="PI108",
    title="a key again at the same step, several axes in one run",
    why="Of two points of a key at one step Probe keeps the first and W&B merges them, the last winning. And Probe's guard "
    "for resumed runs is one step for the whole run: what is counted on a smaller axis is dropped after a resume.",
    see=_see,
)
