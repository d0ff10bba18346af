"""PI105 in a record: a rate, ratio or mean that is never anything but zero, or zero where nothing was measured."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from instrument.audit.record import Check, Seen
from instrument.audit.record._recorded import Recorded, section, some, words

#: What is divided by something: without it there is no value.
_DIVIDED = frozenset(
    "rate ratio mean avg average frac fraction percent pct percentage accuracy acc precision recall f1 auc hit hits "
    "success winrate reward score perplexity ppl throughput".split()
)
#: What is counted or chosen: zero is the truth. A series of zeros is good news, or what was configured.
_TRUTHFUL = frozenset(
    "count counts num n total sum size step steps iter iteration epoch id rank index seed version "
    "clip clipped clipfrac kl truncated truncation abort aborted fail failed failure failures error errors err drop dropped "
    "skip skipped timeout timeouts overflow nan inf invalid missing lost retry retries stale repetition repeat duplicate "
    "padding pad lr learning decay weight coef coefficient beta dropout penalty warmup staleness violation violations "
    "interrupted cancelled canceled rejected oom stall stalled bubble wait waiting idle".split()
)
_MOMENT = re.compile(r"(?:^|[/_.])(?:min|max|std|var|median|p\d+)$", re.IGNORECASE)
#: So few points say nothing.
_FEW, _ENOUGH = 4, 6


def _see(run: Recorded) -> Iterator[Seen]:
    always: list[str] = []
    between: list[tuple[str, int, float]] = []
    for key in run.keys:
        if not _is_divided(key):
            continue
        values = [seat.value for seat in run.seats(key) if math.isfinite(seat.value)]
        if len(values) < _FEW:
            continue
        if not any(values):
            if not _siblings_speak(run, key):
                always.append(key)
        elif (gap := _gaps(values)) is not None:
            between.append((key, *gap))
    if always:
        points = min(len(run.seats(key)) for key in always)
        yield Seen(
            code="PI105", keys=tuple(always), count=len(always),
            message=f"{some(always)}: zero at each of {points} points or more; if nothing was measured, nothing should be "
            "recorded",
        )  # fmt: skip
    for key, zeros, least in between:
        yield Seen(
            code="PI105", keys=(key,), count=zeros,
            message=f"{key} is exactly 0 at {zeros} of {len(run.seats(key))} points and never below {least:.3g} at the others: "
            "those look like nothing measured",
        )  # fmt: skip


def _is_divided(key: str) -> bool:
    last = words(key.rpartition("/")[2])
    return bool(_DIVIDED & set(last)) and not _TRUTHFUL & set(words(key)) and not _MOMENT.search(key)


def _siblings_speak(run: Recorded, key: str) -> bool:
    """Whether other numbers of the same thing show that it was measured and really is zero.

    `x/std` or `x/max` above zero beside `x/mean` of zero; a count of what was measured (`x/count`) above zero.
    """
    stem = re.sub(r"[/_.]?(?:mean|avg|average|rate|ratio|frac|fraction)$", "", key, flags=re.IGNORECASE)
    for other in run.keys:
        if other == key or not other.startswith(stem or key):
            continue
        tail = words(other[len(stem) :])
        if tail and (_MOMENT.search(other) or {"count", "num", "n", "total"} & set(tail)):
            if any(seat.value for seat in run.seats(other) if math.isfinite(seat.value)):
                return True
    counts = {f"{section(key)}/{name}" for name in ("count", "num_samples", "num", "n", "total")}
    return any(any(seat.value for seat in run.seats(name)) for name in counts if name in run.keys)


def _gaps(values: Sequence[float]) -> tuple[int, float] | None:
    """(number of zeros, least other value) where exact zeros stand between values that never come near zero.

    A share of a few samples takes few values, zero among them: that is a measurement, and no gap.
    """
    others = sorted(abs(value) for value in values if value)
    zeros = len(values) - len(others)
    if not zeros or len(others) < _ENOUGH or zeros > len(others):
        return None
    middle = others[len(others) // 2]
    if len(set(others)) * 5 < len(others) * 4 or others[0] * 4 < middle:
        return None
    # A curve that rises from zero, or falls to it, comes near before: the values beside a gap do not.
    beside = [abs(b) for a, b in [*pairwise(values), *pairwise(values[::-1])] if not a and b]
    if any(value * 2 < middle for value in beside):
        return None
    return zeros, others[0]


CHECK = Check(
    code="PI105",
    title="zero where nothing was measured",
    why="A rate without a denominator is no number. Written as zero it is an invented measurement: it pulls means down and "
    "reads as a result (a cache that never hits, a model that never succeeds).",
    see=_see,
)
