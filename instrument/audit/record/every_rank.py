"""PI109 in a record: the same run opened by several processes at once."""

from __future__ import annotations

import json
from collections.abc import Iterator

from instrument.audit.record import Check, Seen
from instrument.audit.record._recorded import Recorded


def _see_all(runs: list[Recorded]) -> Iterator[tuple[Recorded, Seen]]:
    groups: dict[tuple[str, tuple[str, ...], str], list[Recorded]] = {}
    for run in runs:
        config: dict[str, object] = {}
        for part in run.parts:
            config.update(part.config)
        fixed = {key: value for key, value in config.items() if "rank" not in key.lower()}
        if fixed:
            same = json.dumps(fixed, sort_keys=True, default=str)
            groups.setdefault((run.tracker, tuple(sorted(run.keys)), same), []).append(run)
    for (_, keys, _), group in groups.items():
        together = [run for run in group if any(run is not other and _overlap(run, other) for other in group)]
        processes = {part.process.pid for run in together for part in run.parts}
        if len(together) > 1 and (None in processes or len(processes) > 1):
            yield (
                together[0],
                Seen(
                    code="PI109", keys=keys, count=len(together),
                    message=f"{len(together)} runs at the same time with the same configuration and the same {len(keys)} keys: "
                    "one for each process, where one was meant?",
                ),
            )  # fmt: skip


def _overlap(one: Recorded, two: Recorded) -> bool:
    (a, b), (c, d) = _span(one), _span(two)
    return a is not None and b is not None and c is not None and d is not None and a <= d and c <= b and b > a and d > c


def _span(run: Recorded) -> tuple[float | None, float | None]:
    walls = [seat.wall for key in run.keys for seat in run.seats(key) if seat.wall is not None]
    return min(walls, default=None), max(walls, default=None)


CHECK = Check(
    code="PI109",
    title="a run in each process",
    why="A script that opens its run on every rank leaves as many runs as there are processes, with the same curves in each: "
    "means over runs count one training several times.",
    see=lambda run: (),
    see_all=_see_all,
)
