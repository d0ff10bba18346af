"""PI106 in a record: keys without a section among others that have one, and walls of charts with one point each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from instrument.audit.record import Check, Seen
from instrument.audit.record._recorded import Recorded, section, some

#: So many keys of one pattern with a point each make a wall.
_WALL = 8
#: What tells the members of a family apart: numbers, hashes, UUIDs.
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27,}|(?<![a-z])(?=[0-9a-f]*\d)[0-9a-f]{7,}(?![a-z])|\d+", re.IGNORECASE)


def _see(run: Recorded) -> Iterator[Seen]:
    yield from _walls(run)
    plain = [key for key in run.keys if not section(key) and "." not in key and key not in run.counters]
    grouped = [key for key in run.keys if section(key)]
    if plain and grouped:
        yield Seen(
            code="PI106", keys=tuple(plain), count=len(plain),
            message=f"{some(plain)} {'has' if len(plain) == 1 else 'have'} no panel section, while others of the run have "
            f"({some(list(dict.fromkeys(map(section, grouped))), 3)})",
        )  # fmt: skip
    elif len(plain) > 1 and not grouped and run.tracker in ("wandb", "probe"):
        yield Seen(
            code="PI106", keys=tuple(plain), count=len(plain),
            message=f"none of the {len(plain)} keys ({some(plain)}) has a panel section: all charts stand in one heap",
        )  # fmt: skip


def _walls(run: Recorded) -> Iterator[Seen]:
    families: dict[str, list[str]] = {}
    for key in run.keys:
        pattern = _ID.sub("*", key)
        if pattern != key:
            families.setdefault(pattern, []).append(key)
        elif (parent := section(key)) and key not in run.counters:
            # Names instead of numbers: `samples/<name>`, or `<name>/score` in one place.
            families.setdefault(f"{parent}/*", []).append(key)
    for pattern, keys in families.items():
        single = [key for key in keys if len(run.seats(key)) == 1]
        # Where a whole run has one point of everything (an evaluation), one point a key is no wall.
        long = any(len(run.seats(key)) > 2 for key in run.keys)
        if len(single) >= _WALL and len(single) * 2 > len(keys) and long and _spread(run, single):
            yield Seen(
                code="PI106", keys=tuple(single), count=len(single),
                message=f"{len(single)} keys {pattern} have one point each: a wall of charts where one series would do",
            )  # fmt: skip


def _spread(run: Recorded, keys: list[str]) -> bool:
    """Whether the single points came at different times: what a summary logs at one step at the end is no wall."""
    return len({(seat.part, seat.step) for key in keys for seat in run.seats(key)}) > 1


CHECK = Check(
    code="PI106",
    title="charts that can't be found",
    why="Trackers group charts by what stands before a slash. Keys without it stand in one heap; keys with an id in them "
    "make a chart of one point for each id, and bury the others.",
    see=_see,
)
