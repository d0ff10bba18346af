"""What was recorded in one run, in one form for Probe and for every tracker."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

Step = int | float | None
#: `exact` numbers are stored as 64-bit floats; TensorBoard stores 32-bit ones, and Probe's value is rounded to compare.
Precision = Literal["float64", "float32"]


class Point(NamedTuple):
    """One value of one key."""

    step: Step
    value: float
    #: Seconds since the epoch, where the record has it.
    wall: float | None = None


@dataclass(slots=True)
class Series:
    """The values of one key in the order they were logged, and the step of each on every axis that the record knows.

    The first axis is the one that the tracker plots; `accepted` names those on which Probe may agree with it.
    """

    values: list[float] = field(default_factory=list)
    walls: list[float | None] = field(default_factory=list)
    axes: dict[str, list[Step]] = field(default_factory=dict)
    accepted: tuple[str, ...] = ()
    precision: Precision = "float64"
    #: Probe only: points labelled as a repeat (the HF callback's second evaluation at a step); they never plot.
    repeats: int = 0

    @property
    def axis(self) -> str:
        """The name of the plotted axis."""
        return next(iter(self.axes), "step")

    def on(self, axis: str) -> list[Point]:
        """The points on one of the axes."""
        return [Point(*point) for point in zip(self.axes[axis], self.values, self.walls)]

    @property
    def points(self) -> list[Point]:
        """The points on the plotted axis."""
        return self.on(self.axis) if self.axes else []

    def add(self, step: Step, value: float, wall: float | None = None) -> None:
        """Append a point of a record with one axis."""
        self.axes.setdefault("step", []).append(step)
        self.accepted = ("step",)
        self.values.append(value)
        self.walls.append(wall)


@dataclass(slots=True)
class Process:
    """The interpreter that recorded a run, as far as it is known."""

    pid: int | None = None
    #: "main", "torchrun rank 1", "Ray actor Trainer", "child of ..."
    role: str = ""
    executable: str | None = None
    program: str | None = None

    def __str__(self) -> str:
        parts = [self.role, f"process {self.pid}" if self.pid else ""]
        return ", ".join(part for part in parts if part) or "unknown process"


@dataclass(slots=True, kw_only=True)
class Run:
    """One run as one side recorded it."""

    id: str
    tracker: str
    name: str | None = None
    #: "completed", "failed", ...; None where the run was never closed.
    status: str | None = None
    config: dict[str, object] = field(default_factory=dict)
    series: dict[str, Series] = field(default_factory=dict)
    #: Keys that only serve as an x axis for others.
    axis_keys: set[str] = field(default_factory=set)
    #: Ids of runs of other systems that this run names.
    links: set[str] = field(default_factory=set)
    #: Probe only: the name under which a resumed job finds its run again.
    external_id: str | None = None
    process: Process = field(default_factory=Process)
    folder: Path | None = None
    #: What could not be read, or what the record itself says it lost.
    damage: list[str] = field(default_factory=list)

    @property
    def points(self) -> dict[str, list[Point]]:
        """Every key's points on its plotted axis."""
        return {key: series.points for key, series in self.series.items()}

    @property
    def size(self) -> int:
        """How many points there are."""
        return sum(len(series.values) for series in self.series.values())

    @property
    def steps(self) -> int:
        """The number of distinct steps of the key that has most."""
        return max((len(set(series.axes[series.axis])) for series in self.series.values() if series.axes), default=0)

    @property
    def began(self) -> float | None:
        """When the first point was logged."""
        return min((wall for wall in self._walls()), default=None)

    def _walls(self) -> Iterator[float]:
        for series in self.series.values():
            yield from (wall for wall in series.walls if wall is not None)

    def get(self, key: str) -> Series:
        """The series of a key, made when it is new."""
        return self.series.setdefault(key, Series())


def as_float32(value: float) -> float:
    """A number rounded to the nearest 32-bit float; an infinity where it is too large for one."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
