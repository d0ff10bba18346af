"""A finished run of another tracker, as it comes to Probe."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from instrument.verify.model import Run, Series

#: The SDK's words (`probe.connectors.wandb.ReadTier`): the whole curve, only the last values, nothing.
Tier = Literal["history", "summary", "none"]
#: new: not at Probe as far as is known here. queued: in the SDK's offline queue. imported: sent to a server before.
#: partial: begun and interrupted. running: without an end, and written to a moment ago. empty: no metric to bring.
State = Literal["new", "queued", "imported", "partial", "running", "empty"]


@dataclass(slots=True, kw_only=True)
class Finished:
    """One run to import: its record, and what a tracker keeps beside the curves."""

    #: The same for the same run wherever and whenever it is read; no path, no machine.
    external_id: str
    run: Run
    #: The store or folder, relative to what was searched.
    path: str
    project: str | None = None
    tags: list[str] = field(default_factory=list)
    notes: str | None = None
    #: Final values that are not the last of a curve (numbers and texts).
    summary: dict[str, Any] = field(default_factory=dict)
    #: Keys of images, tables, histograms and the like, and files kept with the run: told, not brought.
    media: list[str] = field(default_factory=list)
    #: Ids of the tracker, for Probe's foreign keys.
    foreign_keys: dict[str, str] = field(default_factory=dict)
    started: float | None = None
    ended: float | None = None
    #: When one of its files was last written.
    written: float = 0.0
    state: State = "new"
    tier: Tier = "none"

    @property
    def name(self) -> str:
        return self.run.name or self.run.id

    @property
    def points(self) -> int:
        return self.run.size

    def settle(self, last_step: int | None = None) -> None:
        """Decide the tier; where there is no curve the final numbers become one point each, at the last step known."""
        if self.run.size:
            self.tier = "history"
            return
        numbers = {k: v for k, v in self.summary.items() if isinstance(v, int | float) and not isinstance(v, bool)}
        for key, value in numbers.items():
            self.run.get(key).add(last_step or 0, float(value), self.ended)
        self.tier = "summary" if numbers else "none"


def whole_axis(series: Series) -> str:
    """The axis that a series is sent on: the plotted one, if all its steps are whole numbers (Probe's are), or else
    the first one whose are."""
    for axis, steps in series.axes.items():
        if all(
            isinstance(step, int) or (step is not None and math.isfinite(step) and step == int(step)) for step in steps
        ):
            return axis
    return ""


def merged(parts: list[Finished]) -> Finished:
    """The parts of one run (a run that was resumed has a folder for each), the earliest first, as one."""
    first = parts[0]
    for part in parts[1:]:
        for key, series in part.run.series.items():
            into = first.run.get(key)
            before = len(into.values)
            for axis in {**dict.fromkeys(into.axes), **dict.fromkeys(series.axes)}:
                column = into.axes.setdefault(axis, [None] * before)
                column.extend(series.axes.get(axis, [None] * len(series.values)))
            if before == 0:
                # The plotted axis stands first.
                into.axes = {axis: into.axes[axis] for axis in series.axes}
            into.values += series.values
            into.walls += series.walls
        first.run.config.update(part.run.config)
        first.run.damage += part.run.damage
        first.run.axis_keys |= part.run.axis_keys
        first.run.name = part.run.name or first.run.name
        first.run.status = part.run.status
        first.tags += [tag for tag in part.tags if tag not in first.tags]
        first.media += [key for key in part.media if key not in first.media]
        first.summary.update(part.summary)
        first.notes = part.notes or first.notes
        first.ended = part.ended or first.ended
        first.written = max(first.written, part.written)
    return first
