"""One run as the checks see it: its parts in the order they were written (a resumed run has several), by key and axis."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from instrument.errors import InstrumentError
from instrument.verify.model import Run, Step
from instrument.verify.records import all_readers

#: Folders that hold no record of a run, and many files.
_PRUNED = frozenset({".git", ".hg", "node_modules", "__pycache__", ".venv", "venv", "site-packages"})
#: A key whose last word is a counter of steps (`train/step`, `global_step`, `iteration`), not one of steps within
#: something (`train/step_in_rollout`, `inner_step`, `steps_per_second`).
_COUNTER = re.compile(
    r"(?:^|.*[/._])(?:(?:global|train|training|trainer|optimizer|opt|update|env|total|eval|val|rollout|num)_?)*"
    r"(?:step|steps|iter|iters|iteration|iterations)$",
    re.IGNORECASE,
)
#: Trackers whose automatic step is a number of their own, not a counter of the trainer's.
_OWN_STEP = {"wandb": "_step"}


class Seat(NamedTuple):
    """One point of a key, and where in the record it stands."""

    part: int
    step: Step
    value: float
    wall: float | None


@dataclass(slots=True, kw_only=True)
class Recorded:
    """A run of one tracker with all its parts."""

    id: str
    tracker: str
    name: str | None
    #: The file or folder, as it is shown.
    path: str
    parts: list[Run] = field(default_factory=list)
    _memo: dict[tuple[str, str], list[Seat]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """What a person calls it."""
        return self.name or self.id

    @property
    def keys(self) -> list[str]:
        """Every key, in the order in which they were first logged."""
        return list(dict.fromkeys(key for part in self.parts for key in part.series))

    @property
    def axis_keys(self) -> set[str]:
        """Keys that the run declares as an axis of others."""
        return set().union(*(part.axis_keys for part in self.parts))

    @property
    def counters(self) -> list[str]:
        """Keys that count steps: declared as an axis, or called so and holding whole numbers."""
        declared = self.axis_keys
        return [key for key in self.keys if key in declared or (_COUNTER.match(key) and self._whole(key))]

    def _whole(self, key: str) -> bool:
        return all(math.isfinite(seat.value) and seat.value == int(seat.value) for seat in self.seats(key))

    def axis(self, key: str) -> str:
        """The name of the axis that the tracker plots a key on."""
        return next((part.series[key].axis for part in self.parts if key in part.series), "step")

    @property
    def own_step(self) -> str:
        """What the tracker calls its own step."""
        return _OWN_STEP.get(self.tracker, "step")

    def seats(self, key: str, axis: str | None = None) -> list[Seat]:
        """The points of a key in the order they were logged, at its plotted axis or another; steps are None elsewhere."""
        memo = (key, axis or "")
        if memo not in self._memo:
            found: list[Seat] = []
            for number, part in enumerate(self.parts):
                series = part.series.get(key)
                if series is not None and series.axes:
                    steps = series.axes.get(axis or series.axis) or [None] * len(series.values)
                    found += [Seat(number, *point) for point in zip(steps, series.values, series.walls)]
            self._memo[memo] = found
        return self._memo[memo]


def steps_of(seats: Sequence[Seat]) -> list[tuple[int, float]]:
    """(part, step) of those points that have a finite step."""
    return [(seat.part, seat.step) for seat in seats if seat.step is not None and math.isfinite(seat.step)]


def number(value: float) -> str:
    """A step or value for a sentence: whole numbers without a point."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else f"{value:.6g}"


def some(keys: Sequence[str], at_most: int = 4) -> str:
    """A few keys and how many more there are."""
    more = len(keys) - at_most
    return ", ".join(keys[:at_most]) + (f" and {more} more" if more > 0 else "")


def words(key: str) -> list[str]:
    """The words of a key, in lower case: `rollout/prefix_cacheHitRate` is rollout, prefix, cache, hit, rate."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", key)]


def section(key: str) -> str:
    """What a chart page groups by: all before the last slash; "" where there is none."""
    return key.rpartition("/")[0]


# -- reading


def read(path: Path) -> list[Recorded]:
    """The runs that a path holds: a record's file, a run's folder, or any folder above.

    Raises InstrumentError where there is nothing, or nothing that a reader knows.
    """
    if not path.exists():
        raise InstrumentError("there is no such file or folder", path=str(path), hint="give a run's folder or file",
                              code="no-record")  # fmt: skip
    root = path.resolve()
    files = _files(root)
    runs: list[tuple[Path, Run]] = []
    lost: list[str] = []
    for reader in all_readers():
        own = sorted(file for file in files if reader.owns(file))
        # TensorBoard continues a run in a new file of the same folder: the files are its parts.
        batches = [[file] for file in own] if reader.name == "tensorboard" else [own] if own else []
        for batch in batches:
            for run in reader.read(batch):
                if run.series:
                    runs.append((_place(run, batch), run))
                else:
                    lost += run.damage
    if not runs:
        known = ", ".join(reader.title for reader in all_readers())
        why = f"; {lost[0]}" if lost else ""
        raise InstrumentError(f"holds no record of a run with a metric in it{why}", path=str(path),
                              hint=f"records of {known} are read", code="no-record")  # fmt: skip
    return _grouped(runs, root)


def _files(root: Path) -> list[Path]:
    if root.is_file():
        return [root]
    return list(_walk(root))


def _walk(root: Path) -> Iterator[Path]:
    # Links are not followed: W&B's `latest-run` is the same run once more.
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _PRUNED)
        for name in sorted(names):
            yield Path(folder, name)


def _place(run: Run, batch: Sequence[Path]) -> Path:
    if len(batch) == 1:
        return batch[0]
    if run.folder is None:
        return batch[0].parent
    return next((file for file in batch if file.parent == run.folder and run.id in file.name), run.folder)


def _grouped(runs: Sequence[tuple[Path, Run]], root: Path) -> list[Recorded]:
    """Parts of one run together: the same id (W&B, MLflow), external id (Probe) or folder (TensorBoard)."""
    found: dict[tuple[str, str], list[tuple[Path, Run]]] = {}
    for path, run in runs:
        found.setdefault((run.tracker, run.external_id or run.id), []).append((path, run))
    result = []
    for (tracker, identity), parts in found.items():
        parts.sort(key=lambda part: (part[1].began or 0.0, str(part[0])))
        names = [part.name for _, part in parts if part.name]
        result.append(
            Recorded(
                id=identity,
                tracker=tracker,
                name=names[-1] if names else None,
                path=_shown(parts[0][0], root),
                parts=[part for _, part in parts],
            )
        )
    return sorted(result, key=lambda run: (run.path, run.id))


def _shown(path: Path, root: Path) -> str:
    base = root if root.is_dir() else root.parent
    try:
        shown = path.relative_to(base).as_posix()
    except ValueError:
        shown = path.as_posix()
    return path.name if shown == "." else shown
