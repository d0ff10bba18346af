"""Two records of the same run, compared run by run, key by key, step by step, value by value."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Literal

from instrument.verify.model import Run, Series, Step, as_float32
from instrument.verify.pairing import match_keys, pair

Verdict = Literal[
    "equal",
    "missing at Probe",
    "different step axis",
    "different values",
    "twice",
    "nothing recorded",
    "only at Probe",
]
#: Worst first: the verdict of a run is the worst of its keys', that of all the worst of the runs'.
WORST: tuple[Verdict, ...] = (
    "nothing recorded",
    "missing at Probe",
    "twice",
    "different step axis",
    "different values",
    "equal",
)


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two series part."""

    step: Step
    tracker: float | None
    probe: float | None


@dataclass(slots=True, kw_only=True)
class KeyResult:
    """What became of one key of the tracker at Probe (or of a key that only Probe has)."""

    key: str
    verdict: Verdict
    tracker: Series | None
    probe: Series | None
    probe_key: str | None = None
    #: The axis on which they were compared.
    axis: str = "step"
    first: Difference | None = None
    detail: str = ""
    #: Where the repository emits it ("train.py:41"), where that could be found.
    place: str | None = None


@dataclass(slots=True, kw_only=True)
class RunResult:
    """One run of the tracker and the Probe run that belongs to it."""

    tracker: Run
    probe: Run | None
    keys: list[KeyResult] = field(default_factory=list)
    #: Why nothing was recorded, or in which other Probe runs the same was recorded again.
    cause: str = ""
    #: More Probe runs that hold the same points.
    again: list[Run] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """The worst of the keys' verdicts."""
        if self.probe is None or not self.probe.series:
            return "nothing recorded"
        return worst([*(key.verdict for key in self.keys), *(("twice",) if self.again else ())])


@dataclass(slots=True, kw_only=True)
class Comparison:
    """All runs of all trackers against Probe's."""

    runs: list[RunResult] = field(default_factory=list)
    #: Probe runs that belong to no run of a tracker. Informational.
    only_at_probe: list[Run] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        """The worst of the runs' verdicts; "nothing recorded" where there is no run of a tracker to compare with."""
        return worst([run.verdict for run in self.runs]) if self.runs else "nothing recorded"

    @property
    def equal(self) -> bool:
        """Whether there was something to compare and all of it was equal."""
        return bool(self.runs) and self.verdict == "equal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How strictly to compare.

    `tolerance` is relative and absolute; 0 demands equal floats (NaN equals NaN). `cut` is how many points at the end
    of a series may be on one side alone, because the command was stopped between two calls (infinite after a kill).
    """

    tolerance: float = 0.0
    cut: float = 0
    ignore: tuple[str, ...] = ()

    def same(self, tracker: float, probe: float, series: Series) -> bool:
        """Whether two values are the same."""
        if math.isnan(tracker) or math.isnan(probe):
            return math.isnan(tracker) and math.isnan(probe)
        if series.precision == "float32":
            tracker, probe = as_float32(tracker), as_float32(probe)
        if tracker == probe:
            return True
        return self.tolerance > 0 and math.isclose(tracker, probe, rel_tol=self.tolerance, abs_tol=self.tolerance)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts; "equal" for none."""
    return min((verdict for verdict in verdicts if verdict in WORST), key=WORST.index, default="equal")


def compare(probe: Sequence[Run], trackers: Sequence[Run], rules: Rules = Rules()) -> Comparison:
    """Compare every run of every tracker with the Probe run that belongs to it."""
    result = Comparison()
    used: set[int] = set()
    filled = [run for run in trackers if run.series]
    for system in sorted({run.tracker for run in filled}):
        runs = [run for run in filled if run.tracker == system]
        for tracker, found in pair(runs, probe):
            run = RunResult(tracker=tracker, probe=found)
            if found is not None:
                used.add(id(found))
                run.keys = compare_keys(tracker, found, rules)
            result.runs.append(run)
    for extra in probe:
        if id(extra) in used:
            continue
        twin = next((run for run in result.runs if run.probe is not None and _repeats(run.tracker, extra, rules)), None)
        if twin is not None:
            twin.again.append(extra)
        else:
            result.only_at_probe.append(extra)
    _shared(result)
    return result


def _shared(result: Comparison) -> None:
    """Where several runs of a tracker share one Probe run, a key is only at Probe if none of them has it."""
    shared: dict[tuple[str, int], list[RunResult]] = {}
    for run in result.runs:
        if run.probe is not None:
            shared.setdefault((run.tracker.tracker, id(run.probe)), []).append(run)
    for runs in shared.values():
        claimed = {key.probe_key for run in runs for key in run.keys if key.verdict != "only at Probe"}
        for number, run in enumerate(runs):
            run.keys = [
                key
                for key in run.keys
                if key.verdict != "only at Probe" or (number == 0 and key.probe_key not in claimed)
            ]


def compare_keys(tracker: Run, probe: Run, rules: Rules) -> list[KeyResult]:
    """Compare every key of a run; keys that only Probe has follow."""
    names = match_keys(tracker, probe)
    last = max((_number(step) for s in tracker.series.values() if s.axes for step in s.axes[s.axis]), default=0.0)
    results: list[KeyResult] = []
    for key, series in tracker.series.items():
        if any(fnmatchcase(key, glob) for glob in rules.ignore):
            continue
        name = names.get(key)
        if name is not None:
            result = compare_series(key, series, probe.series[name], rules)
            result.probe_key = name
            results.append(result)
        elif key not in tracker.axis_keys:
            cut = rules.cut >= 1 and len(series.values) <= rules.cut and _number(series.points[-1].step) >= last
            detail = "the command was stopped before Probe could have it" if cut else ""
            results.append(
                KeyResult(
                    key=key,
                    verdict="equal" if cut else "missing at Probe",
                    tracker=series,
                    probe=None,
                    axis=series.axis,
                    detail=detail,
                    first=Difference(series.points[0].step, series.values[0], None),
                )
            )
    claimed = set(names.values())
    for name, series in probe.series.items():
        if name not in claimed and series.values and not any(fnmatchcase(name, glob) for glob in rules.ignore):
            results.append(
                KeyResult(
                    key=name, verdict="only at Probe", tracker=None, probe=series, probe_key=name, axis=series.axis
                )
            )
    return results


def _number(step: Step) -> float:
    return -math.inf if step is None else float(step)


@dataclass(slots=True)
class _Parting:
    """How two series part on one axis."""

    axis: str
    missing: list[Step] = field(default_factory=list)
    extra: list[Step] = field(default_factory=list)
    wrong: list[Step] = field(default_factory=list)
    doubled: list[Step] = field(default_factory=list)
    common: int = 0
    cut: int = 0

    @property
    def size(self) -> int:
        return len(self.missing) + len(self.extra) + len(self.wrong) + len(self.doubled)


def _by_step(steps: Sequence[Step], values: Sequence[float]) -> dict[Step, list[float]]:
    grouped: dict[Step, list[float]] = {}
    for step, value in zip(steps, values):
        grouped.setdefault(step, []).append(value)
    return grouped


def _distinct(values: Sequence[float]) -> list[float]:
    """The values without immediate repeats: a value sent again unchanged at its step adds nothing to either side."""
    kept: list[float] = []
    for value in values:
        if not kept or not (value == kept[-1] or (math.isnan(value) and math.isnan(kept[-1]))):
            kept.append(value)
    return kept


def _part(tracker: Series, probe: Series, axis: str, rules: Rules) -> _Parting:
    ours, theirs = _by_step(probe.axes[probe.axis], probe.values), _by_step(tracker.axes[axis], tracker.values)
    parting = _Parting(axis)
    for step, values in theirs.items():
        if step not in ours:
            parting.missing.append(step)
            continue
        parting.common += 1
        mine, wanted = _distinct(ours[step]), _distinct(values)
        if probe.repeats:  # what differs at one step went out as labelled repeats
            wanted = wanted[: len(mine)]
        if len(mine) != len(wanted) or not all(rules.same(a, b, tracker) for a, b in zip(wanted, mine)):
            parting.wrong.append(step)
        elif len(ours[step]) > len(values):
            parting.doubled.append(step)
    parting.extra = [step for step in ours if step not in theirs]
    for lonely, others in ((parting.missing, ours), (parting.extra, theirs)):
        # A stopped command leaves a side without the other's last points.
        last = max((_number(step) for step in others), default=-math.inf)
        beyond = [step for step in lonely if _number(step) > last]
        if others and 0 < len(beyond) <= rules.cut:
            parting.cut += len(beyond)
            lonely[:] = [step for step in lonely if step not in beyond]
    return parting


def compare_series(key: str, tracker: Series, probe: Series, rules: Rules) -> KeyResult:
    """Compare the series of one key."""
    result = KeyResult(key=key, verdict="equal", tracker=tracker, probe=probe, axis=tracker.axis)
    if not probe.values:
        result.verdict = "missing at Probe"
        return result
    accepted = [axis for axis in (tracker.axis, *tracker.accepted) if axis in tracker.axes]
    accepted = [axis for axis in dict.fromkeys(accepted) if axis == tracker.axis or axis in tracker.accepted]
    best = min((_part(tracker, probe, axis, rules) for axis in accepted), key=lambda parting: parting.size)
    result.axis = best.axis
    if best.size == 0:
        result.detail = f"{best.cut} at the end not compared: the command was stopped" if best.cut else ""
        return result
    result.first = _first(tracker, probe, best)
    result.verdict, result.detail = _judge(tracker, probe, best, accepted, rules)
    return result


def _judge(
    tracker: Series, probe: Series, best: _Parting, accepted: Sequence[str], rules: Rules
) -> tuple[Verdict, str]:
    """Name the difference: the simplest mistake that explains it."""
    times = _times(tracker, probe, rules)
    if times > 1 or (best.doubled and not best.wrong and not best.missing):
        return "twice", f"{max(times, 2)} points at Probe for one of the tracker"
    for axis in tracker.axes:
        if axis not in accepted and _part(tracker, probe, axis, rules).size == 0:
            return "different step axis", f"Probe's steps are {axis}, the tracker plots against {best.axis}"
    steps, length = probe.axes[probe.axis], min(len(tracker.values), len(probe.values))
    matching = sum(rules.same(a, b, tracker) for a, b in zip(tracker.values, probe.values))
    uneven = abs(len(tracker.values) - len(probe.values))
    if (best.missing or best.extra) and length and matching == length and uneven <= rules.cut:
        return "different step axis", _shift(tracker.axes[best.axis], steps)
    if best.missing and not best.wrong and not best.extra:
        return "missing at Probe", f"{len(best.missing)} of {len(tracker.values)} points are missing"
    if best.extra and not best.wrong and not best.missing:
        return "different values", f"{len(best.extra)} points at Probe that the tracker does not have"
    if length and best.common < length / 2 and matching >= length / 2:
        return "different step axis", _shift(tracker.axes[best.axis], steps)
    parts = [
        f"{len(best.wrong)} of {best.common} common steps differ" if best.wrong else "",
        f"{len(best.missing)} are missing" if best.missing else "",
        f"{len(best.extra)} are only at Probe" if best.extra else "",
    ]
    return ("different values" if best.wrong else "different step axis"), ", ".join(part for part in parts if part)


def _times(tracker: Series, probe: Series, rules: Rules) -> int:
    """How often every value of the tracker stands in Probe's series in a row (2 where a call is doubled), else 1."""
    times, rest = divmod(len(probe.values), len(tracker.values))
    if times < 2 or rest > rules.cut * times:
        return 1
    spread = [value for value in tracker.values for _ in range(times)]
    return times if all(rules.same(a, b, tracker) for a, b in zip(spread, probe.values)) else 1


def _shift(tracker: Sequence[Step], probe: Sequence[Step]) -> str:
    if all(step is None for step in probe):
        return "Probe's points have no step"
    gaps = {a - b for a, b in zip(probe, tracker) if a is not None and b is not None}
    if len(gaps) == 1:
        return f"Probe's steps are {gaps.pop():+g} of the tracker's"
    shown = ", ".join(_short(step) for step in probe[:4])
    return f"Probe's steps are {shown} ..., the tracker's {', '.join(_short(step) for step in tracker[:4])} ..."


def _short(step: Step) -> str:
    return "none" if step is None else f"{step:g}" if isinstance(step, float) else str(step)


def _first(tracker: Series, probe: Series, parting: _Parting) -> Difference:
    steps = [*parting.missing, *parting.extra, *parting.wrong, *parting.doubled]
    step = min(steps, key=_number)
    ours, theirs = _by_step(probe.axes[probe.axis], probe.values), _by_step(tracker.axes[parting.axis], tracker.values)
    mine, wanted = ours.get(step, []), theirs.get(step, [])
    index = next((i for i, (a, b) in enumerate(zip(wanted, mine)) if a != b), 0)
    return Difference(step, wanted[index] if wanted else None, mine[index] if mine else None)


def _repeats(tracker: Run, extra: Run, rules: Rules) -> bool:
    """Whether a Probe run holds (at least half of) what another already holds of a tracker's run."""
    names = match_keys(tracker, extra)
    if not names:
        return False
    found = [compare_series(key, tracker.series[key], extra.series[name], rules).verdict for key, name in names.items()]
    return sum(verdict in ("equal", "twice", "different step axis") for verdict in found) * 2 >= len(found)
