"""PI101 in a record: metrics plotted against the tracker's own step although the run counts steps of training."""

from __future__ import annotations

from collections.abc import Iterator

from instrument.audit.record import Check, Seen
from instrument.audit.record._recorded import Recorded, section, some, steps_of

#: Trackers that record a call without a step at step 0.
_ZERO = {"tensorboard": "TensorBoard", "mlflow": "MLflow"}


def _see(run: Recorded) -> Iterator[Seen]:
    yield from _beside_counter(run)
    if run.tracker in _ZERO:
        yield from _all_at_zero(run)


def _beside_counter(run: Recorded) -> Iterator[Seen]:
    """A counter is in the record, and the steps that metrics stand at are not its values."""
    counters = [key for key in run.counters if _is_off(run, key)]
    if not counters:
        return
    by: dict[str, list[str]] = {}
    for key in run.keys:
        if key in run.counters or run.axis(key) != run.own_step or len(run.seats(key)) < 2:
            continue
        counter = _counter_of(run, key, counters)
        if counter is not None:
            by.setdefault(counter, []).append(key)
    for counter, keys in by.items():
        own = "the tracker's own step" if run.tracker == "wandb" else "a step of its own"
        yield Seen(
            code="PI101", keys=tuple(keys), count=len(keys),
            message=f"{some(keys)} {'is' if len(keys) == 1 else 'are'} plotted against {own}, while the run counts "
            f"{counter}",
        )  # fmt: skip


def _is_off(run: Recorded, counter: str) -> bool:
    """Whether a counter's values are other than the steps it is recorded at: else the step is the counter."""
    seats = run.seats(counter, run.own_step)
    return any(seat.step != seat.value for seat in seats if seat.step is not None)


def _counter_of(run: Recorded, key: str, counters: list[str]) -> str | None:
    """The counter that was logged with a key (most of its points), else the one of its section. None where neither is."""
    places = {(seat.part, seat.step) for seat in run.seats(key, run.own_step)}
    fitting = []
    for counter in counters:
        beside = {(seat.part, seat.step) for seat in run.seats(counter, run.own_step)}
        if len(places & beside) * 2 > len(places):
            fitting.append(counter)
    for counter in fitting:
        if section(counter) == section(key):
            return counter
    if fitting:
        return fitting[0]
    same = [counter for counter in counters if section(key) and section(counter) == section(key)]
    return same[0] if same else None


def _all_at_zero(run: Recorded) -> Iterator[Seen]:
    """Calls without a step, which these trackers put at 0, one on the other."""
    keys = [
        key for key in run.keys
        if len(steps := steps_of(run.seats(key))) > 1 and {step for _, step in steps} == {0}
    ]  # fmt: skip
    if keys:
        points = sum(len(run.seats(key)) for key in keys)
        yield Seen(
            code="PI101", keys=tuple(keys), count=points,
            message=f"{some(keys)}: all {points} points stand at step 0, where {_ZERO[run.tracker]} puts what has none",
        )  # fmt: skip


CHECK = Check(
    code="PI101",
    title="plotted against the tracker's own step",
    why="The tracker's own step counts calls of `log`. A metric that is plotted against it can't be laid over one that is "
    "plotted against steps of training, and moves sideways whenever something else is logged more or less often.",
    see=_see,
)
