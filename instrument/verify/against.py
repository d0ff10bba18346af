"""The same command before the edit, in a git worktree: did output, exit code or the tracker's record change?"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from instrument.errors import InstrumentError
from instrument.verify.compare import KeyResult, Rules, compare_series
from instrument.verify.model import Run
from instrument.verify.run import Outcome, Request, run

#: "numbers": the same but for numbers (times, speeds, values of a training that is not deterministic).
Output = Literal["equal", "numbers", "different"]
Record = Literal["equal", "not deterministic", "different", "none"]

#: Lines of the trackers themselves: they name run ids and folders.
_CHATTER = re.compile(r"^(wandb|probe|swanlab|\* ?trackio|trackio)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


@dataclass(slots=True, kw_only=True)
class Against:
    """How the edited tree compares with the revision before the edit."""

    revision: str
    before: Outcome
    exit_codes: tuple[int | None, int | None]
    output: Output
    #: The first differing lines, before and after.
    output_lines: list[tuple[str, str]] = field(default_factory=list)
    record: Record
    #: Keys whose series differ ("wandb: loss: ...").
    record_lines: list[str] = field(default_factory=list)
    seconds: tuple[float, float]
    #: Median seconds between two rows of the tracker's record, before and after.
    per_step: tuple[float | None, float | None]
    notes: list[str] = field(default_factory=list)

    @property
    def unchanged(self) -> bool:
        """Output, exit code and record are as they were (as far as the training is deterministic)."""
        same_exit = self.exit_codes[0] == self.exit_codes[1]
        return same_exit and self.output != "different" and self.record != "different"


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    except OSError as error:
        raise InstrumentError(f"git can't be run: {error.strerror}", hint="--against needs git") from None
    if done.returncode:
        said = os.fsdecode(done.stderr).strip().splitlines()
        raise InstrumentError(
            f"git {arguments[0]} failed: {said[-1] if said else 'no message'}",
            hint="--against needs a revision of a git tree",
        )
    return os.fsdecode(done.stdout).rstrip("\n")


@contextmanager
def worktree(root: Path, revision: str) -> Iterator[Path]:
    """A git worktree of the revision in a temporary folder; nothing of it is left afterwards."""
    with tempfile.TemporaryDirectory(prefix="instrument-before-") as folder:
        tree = Path(folder, "tree").resolve()
        _git(root, "worktree", "add", "--detach", "--quiet", str(tree), revision)
        try:
            yield tree
        finally:
            _git(root, "worktree", "remove", "--force", str(tree))


def commit_of(folder: Path, revision: str) -> str:
    """The commit that a revision names. Raises InstrumentError where there is none."""
    return _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")


def before(after: Outcome, request: Request, revision: str, tolerance: float = 0.0) -> Against:
    """Run the request on a revision and compare with what came of it on the tree as it is.

    The request must have asked for a copy of stdout. Raises InstrumentError where there is no such revision.
    """
    root = Path(_git(request.cwd, "rev-parse", "--show-toplevel")).resolve()
    commit = commit_of(root, revision)
    with worktree(root, commit) as tree:
        first = _run_in(tree, root, request, "before")
        rules = Rules(tolerance=tolerance, cut=float("inf") if after.stopped or first.stopped else 0)
        different = _differing(first.trackers, after.trackers, rules)
        record: Record = "different" if different else "equal" if first.trackers or after.trackers else "none"
        notes: list[str] = []
        if different and all(key.verdict == "different values" and key.detail.endswith("differ") for key in different):
            # Only values: is the training deterministic at all? The same revision again tells.
            second = _run_in(tree, root, request, "before-again")
            again = _differing(first.trackers, second.trackers, rules)
            if again and all(key.verdict == "different values" for key in again):
                record = "not deterministic"
                notes.append(
                    f"two runs of {revision} differ from each other too: keys and steps are equal, values can't be"
                )
        output, lines = _outputs(first.stdout, after.stdout, tree, root)
        if record == "not deterministic" and output == "different":
            notes.append("the output differs beyond numbers")
    if first.failed and not after.failed:
        notes.append("the command fails there: files that git does not track (data, built code) are not in a worktree")
    if first.probe:
        notes.append(f"{revision} sends to Probe already, or an installed copy of the edited tree was run")
    return Against(
        revision=revision,
        before=first,
        exit_codes=(first.exit_code, after.exit_code),
        output=output,
        output_lines=lines,
        record=record,
        record_lines=[f"{key.key}: {_said(key)}" for key in different],
        seconds=(first.seconds, after.seconds),
        per_step=(_gap(first.trackers), _gap(after.trackers)),
        notes=notes,
    )


def _said(key: KeyResult) -> str:
    if key.verdict == "missing at Probe" and key.tracker is None:
        return key.detail
    return f"{key.verdict.replace('missing at Probe', 'missing')}: {key.detail}"


def _run_in(tree: Path, root: Path, request: Request, name: str) -> Outcome:
    def moved(text: str) -> str:
        other = (
            tree / Path(text).relative_to(root)
            if Path(text).is_absolute() and Path(text).is_relative_to(root)
            else None
        )
        return str(other) if other is not None and other.exists() else text

    folder = request.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    paths = [moved(path) for path in request.env.get("PYTHONPATH", "").split(os.pathsep) if path]
    if any((tree / made).exists() for made in ("pyproject.toml", "setup.py", "setup.cfg")):
        # An editable install would bring in the edited tree: a path named here comes before it.
        paths += [str(place) for place in (tree / "src", tree) if place.is_dir()]
    env = {**request.env, **({"PYTHONPATH": os.pathsep.join(paths)} if paths else {})}
    cwd = tree / request.cwd.resolve().relative_to(root)
    if not cwd.is_dir():
        raise InstrumentError(f"the revision has no folder {cwd.relative_to(tree)}", hint="choose a later revision")
    return run(replace(request, command=[moved(word) for word in request.command], cwd=cwd, folder=folder, env=env))


def _differing(before: Sequence[Run], after: Sequence[Run], rules: Rules) -> list[KeyResult]:
    """The keys whose series are not the same, among runs paired by tracker, name and order."""

    def order(run: Run) -> tuple[str, str, float]:
        return run.tracker, run.name or "", run.began or 0.0

    old = sorted((run for run in before if run.series), key=order)
    new = sorted((run for run in after if run.series), key=order)
    found: list[KeyResult] = []
    for number in range(max(len(old), len(new))):
        one = old[number] if number < len(old) else Run(id="", tracker="none")
        other = new[number] if number < len(new) else Run(id="", tracker="none")
        for key in dict.fromkeys((*one.series, *other.series)):
            if key not in one.series or key not in other.series:
                detail = "only before the edit" if key in one.series else "only after the edit"
                found.append(KeyResult(key=key, verdict="missing at Probe", tracker=None, probe=None, detail=detail))
                continue
            result = compare_series(key, one.series[key], other.series[key], rules)
            if result.verdict != "equal":
                result.detail = result.detail.replace("Probe", "the edited tree").replace(
                    "the tracker", "the tree before"
                )
                found.append(result)
    return found


def _lines(output: bytes, tree: Path, root: Path) -> list[str]:
    text = output.decode("utf-8", "replace").replace("\r\n", "\n").replace(str(tree), str(root))
    # A progress bar redraws one line: what stands there in the end counts.
    return [line.rsplit("\r", 1)[-1] for line in text.splitlines() if not _CHATTER.match(line)]


def _outputs(before: bytes, after: bytes, tree: Path, root: Path) -> tuple[Output, list[tuple[str, str]]]:
    old, new = _lines(before, tree, root), _lines(after, tree, root)
    if old == new:
        return "equal", []
    longest = max(len(old), len(new))
    old += [""] * (longest - len(old))
    new += [""] * (longest - len(new))
    different = [(a, b) for a, b in zip(old, new) if a != b]
    masked = all(_NUMBER.sub("#", a) == _NUMBER.sub("#", b) for a, b in different)
    return ("numbers" if masked else "different"), different[:5]


def _gap(runs: Sequence[Run]) -> float | None:
    """The median time between two rows of the longest record."""
    best = max(runs, key=lambda run: run.size, default=None)
    if best is None:
        return None
    walls = sorted({wall for series in best.series.values() for wall in series.walls if wall is not None})
    gaps = [late - early for early, late in pairwise(walls)]
    return statistics.median(gaps) if len(gaps) >= 3 else None


def lines(against: Against) -> list[str]:
    """The comparison in sentences."""
    old, new = against.exit_codes
    output = {
        "equal": "stdout is the same",
        "numbers": "stdout is the same but for numbers",
        "different": "stdout differs",
    }
    record = {
        "equal": "the tracker's record is the same",
        "not deterministic": "the tracker's keys and steps are the same, its values are not deterministic",
        "different": "the tracker's record differs",
        "none": "no tracker recorded anything",
    }
    said = [
        f"against {against.revision}: exit code {new} {'as before' if old == new else f'after, {old} before'}",
        f"against {against.revision}: {output[against.output]}",
        f"against {against.revision}: {record[against.record]}",
    ]
    if against.output == "different":
        said += [f"    - {one[:200]}\n    + {two[:200]}".replace("\n", " | ") for one, two in against.output_lines[:3]]
    if against.record == "different":
        said += [f"    {line}" for line in against.record_lines[:10]]
    said.append(f"against {against.revision}: {against.seconds[0]:.2f} s before, {against.seconds[1]:.2f} s after")
    if None not in against.per_step:
        one, two = (1000 * (gap or 0.0) for gap in against.per_step)
        said.append(f"against {against.revision}: a logged step takes {one:.2f} ms before, {two:.2f} ms after (median)")
    return [*said, *(f"note: {note}" for note in against.notes)]


def as_data(against: Against) -> dict[str, Any]:
    """The comparison as plain data."""
    return {
        "revision": against.revision,
        "unchanged": against.unchanged,
        "exit_codes": list(against.exit_codes),
        "output": against.output,
        "output_lines": [list(pair) for pair in against.output_lines],
        "record": against.record,
        "record_lines": against.record_lines,
        "seconds": [round(value, 3) for value in against.seconds],
        "seconds_per_step": list(against.per_step),
        "notes": against.notes,
    }
