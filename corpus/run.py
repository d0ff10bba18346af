"""`python -m corpus.run [NAME...]`: fetch, plan, prove, apply, plan again, undo, compare with the golden answers.

    python -m corpus.run                    every source; the scoreboard is also written to docs/corpus.md
    python -m corpus.run NAME...            some of them
    python -m corpus.run --accept NAME...   show what changed in an answer, and keep it as the golden one
    python -m corpus.run --unseen NAME      the emitters that nothing records, one by one
    python -m corpus.run --verify NAME      run it for real, as its manifest says, through `instrument verify`

The exit code is 1 where an answer differs, a proof fails or a step does not hold; what can't be had is said, and is none.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from corpus.fetch import NotHad, fetch
from corpus.golden import GOLDEN, Fate, answer, differences
from corpus.manifest import HERE, Source, read
from instrument.errors import InstrumentError
from instrument.patch.diff import changes
from instrument.patch.proofs import prove
from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository

PAGE = HERE.parent / "docs" / "corpus.md"


@dataclass(slots=True)
class Row:
    """What came of one source."""

    source: Source
    state: str = "ok"
    files: int = 0
    shapes: str = ""
    edits: int = 0
    emitters: Counter[str] = field(default_factory=Counter)
    fates: list[Fate] = field(default_factory=list)
    seconds: float = 0.0
    said: list[str] = field(default_factory=list)

    @property
    def counted(self) -> int:
        """Emitters in code that is the repository's own and not a test."""
        return sum(n for kind, n in self.emitters.items() if kind not in ("tests", "vendored"))

    @property
    def open(self) -> int:
        return self.emitters["fault"]


def check(source: Source, into: Path, accept: bool = False) -> Row:
    """Every step for one source. What fails is in the row's state; nothing is raised but for a broken manifest."""
    row = Row(source)
    try:
        root = fetch(source, into)
        begun = time.perf_counter()
        made, repo, plan, row.fates = answer(root, source)
        row.seconds = time.perf_counter() - begun
        row.files, row.shapes, row.edits = len(repo.files), ", ".join(made.shapes), len(plan.edits)
        row.emitters = Counter(made.emitters)
        prove(repo, plan, make_plan)
        _there_and_back(root, repo, plan)
    except NotHad as why:
        row.state, row.said = "not run", [str(why)]
        return row
    except InstrumentError as error:
        row.state, row.said = "failed", [str(error)]
        return row
    golden, text = GOLDEN / f"{source.name}.json", made.text()
    known = golden.read_text("utf-8") if golden.exists() else ""
    if known != text:
        row.said = differences(known, text)
        row.state = "accepted" if accept else "differs" if known else "no golden"
        if accept:
            GOLDEN.mkdir(exist_ok=True)
            golden.write_text(text, "utf-8")
    return row


def _there_and_back(root: Path, repo: Repository, plan: object) -> None:
    """Apply through the command line, plan again (nothing), undo (the same bytes)."""
    paths = [change.path for change in changes(repo, plan)]  # type: ignore[arg-type]
    if not paths:
        return  # there is nothing to apply, nor to undo
    before = {path: _bytes(root / path) for path in paths}
    for arguments in (["apply", str(root), "--yes", "--quiet"], ["undo", str(root)]):
        done = subprocess.run(
            [sys.executable, "-m", "instrument", *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise InstrumentError(f"{arguments[0]} ended with {done.returncode}: {done.stderr[-300:]}", path=str(root))
        if arguments[0] == "apply":
            again = make_plan(Repository(root))
            if again.edits or again.new_files:
                raise InstrumentError("planning again on the result gives edits", path=str(root))
    changed = [path for path in paths if _bytes(root / path) != before[path]]
    if changed:
        raise InstrumentError(f"undo left {len(changed)} files changed", path=changed[0])


def _bytes(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


# -- what people see -------------------------------------------------------------------------------------------------------


def kept(source: Source) -> Row:
    """The row of the answer that is kept, whatever can be had on this machine."""
    row, golden = Row(source, state="not run"), GOLDEN / f"{source.name}.json"
    if golden.exists():
        answer_ = json.loads(golden.read_text("utf-8"))
        row.state, row.files, row.shapes = "ok", answer_["files"], ", ".join(answer_["shapes"])
        row.edits, row.emitters = len(answer_["edits"]), Counter(answer_["emitters"])
    return row


def share(rows: Iterable[Row]) -> tuple[int, int]:
    """(emitters that are recorded, asked about or have no counterpart; all), in code of their own that is no test."""
    found = list(rows)
    return sum(row.counted - row.open for row in found), sum(row.counted for row in found)


def show(rows: list[Row], console: Console) -> None:
    """The scoreboard on a terminal."""
    table = Table(
        "source",
        "files",
        "shapes",
        "emitters",
        "covered",
        "asked",
        "other door",
        "none",
        "fault",
        "edits",
        "s",
        "golden",
    )
    for row in rows:
        e = row.emitters
        numbers = (row.counted, e["covered"], e["asked"], e["other door"], e["no counterpart"], e["fault"], row.edits)
        table.add_row(row.source.name, str(row.files), row.shapes, *map(str, numbers), f"{row.seconds:.1f}", row.state)
    console.print(table)
    seen, every = share(rows)
    states = Counter(row.state for row in rows)
    console.print(f"{len(rows)} sources, {dict(states)}; {seen} of {every} emitters accounted for", highlight=False)


def page(rows: list[Row]) -> str:
    """The scoreboard as a page."""
    lines = [
        "# Corpus",
        "",
        "Real repositories, each planned, proved, applied, planned again (nothing to do) and taken back to the same bytes, and",
        "its plan compared with an answer that a person looked at (`corpus/golden`). Nothing of theirs is committed: the manifest",
        "says where each comes from. `make corpus` renews this page, `make corpus-accept NAME` one answer.",
        "",
        "The emitters are counted without the engine (`corpus/emitters.py`: calls that send metrics, trainers that are built).",
        "*Other door*: the row reaches Probe another way (a second tracker beside one that is mirrored, a tracker layer that has",
        "Probe as a backend). *None*: there is nothing at Probe that it could be (images, histograms, handles of files). *Fault*:",
        "the plan is silent about it. Tests and vendored code are not counted.",
        "",
        "| source | from | licence | trainer | strategy | processes | shapes found | files | emitters | covered | asked "
        "| other door | none | fault | edits |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        s, e = row.source, row.emitters
        origin = s.pypi or f"{s.git} {s.commit[:9]}"
        if row.state == "not run":
            lines.append(
                f"| {s.name} | {origin} | {s.licence} | {s.shape} | {s.strategy} | {s.processes} | not run | | | | | | | | |"
            )
            continue
        numbers = (
            row.files,
            row.counted,
            e["covered"],
            e["asked"],
            e["other door"],
            e["no counterpart"],
            e["fault"],
            row.edits,
        )
        cells = (s.name, origin, s.licence, s.shape, s.strategy, s.processes, row.shapes, *map(str, numbers))
        lines.append(f"| {' | '.join(cells)} |")
    seen, every = share(rows)
    percent = 100 * seen / every if every else 100.0
    none = sum(row.emitters["no counterpart"] for row in rows)
    wanted, reached = every - none, seen - none
    lines += [
        "",
        f"{len(rows)} sources; of {every} emitters {seen} are recorded, asked about or known to have no counterpart "
        f"({percent:.1f} %). Of the {wanted} that have a counterpart {reached} are recorded or asked about "
        f"({100 * reached / max(wanted, 1):.1f} %).",
        "",
        "By kind of trainer:",
        "",
        "| trainer | sources | emitters | accounted for |",
        "|---|---|---|---|",
    ]
    for shape in sorted({row.source.shape for row in rows}):
        of_shape = [row for row in rows if row.source.shape == shape]
        seen, every = share(of_shape)
        lines.append(f"| {shape} | {len(of_shape)} | {every} | {f'{100 * seen / every:.0f} %' if every else '-'} |")
    faults = [(row.source.name, place, why) for row in rows for place, why in row.source.judged.items()]
    faults = [(name, place, why.partition(": ")[2]) for name, place, why in faults if why.startswith("fault")]
    if faults:
        lines += ["", "Faults:", ""]
        lines += [f"- {name}: `{place}`: {why}" for name, place, why in faults]
    judged = [(row.source.name, place, why) for row in rows for place, why in row.source.judged.items()
              if not why.startswith("fault")]  # fmt: skip
    if judged:
        lines += ["", "Judged by a person:", ""]
        lines += [f"- {name}: `{place}`: {why}" for name, place, why in judged]
    trials = [row.source for row in rows if row.source.run is not None]
    if trials:
        lines += [
            "",
            "Run for real on a CPU after `apply`, through `instrument verify` (`python -m corpus.run --verify NAME`):",
            "",
        ]
        lines += [f"- {s.name}, by `{s.run.script}`: {s.run.outcome}" for s in trials if s.run is not None]
    return "\n".join(lines) + "\n"


def verify(source: Source, into: Path) -> int:
    """Run one source for real, as the manifest says: apply, prepare, `instrument verify`. Returns its exit code."""
    if source.run is None:
        raise InstrumentError(f"source «{source.name}» has no [source.run]", path=str(HERE / "manifest.toml"))
    root = fetch(source, into)
    shutil.copy(HERE.parent / source.run.script, root / "trial.py")
    subprocess.run([sys.executable, "-m", "instrument", "apply", str(root), "--yes", "--quiet"], check=True)
    paths = (str(HERE.parent), str(root / source.run.path), os.environ.get("PYTHONPATH"))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-m", "instrument", "verify", ".", "--", sys.executable, "trial.py"]
    return subprocess.run(command, cwd=root, env=environment, check=False).returncode


def main(arguments: list[str]) -> int:
    """The command line; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m corpus.run", description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--page", action="store_true", help="only renew docs/corpus.md from the answers that are kept")
    parser.add_argument("--pypi", action="store_true", help="only what comes from PyPI")
    given = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 150)
    sources = read()
    if given.page:
        PAGE.write_text(page([kept(source) for source in sources]), "utf-8")
        return 0
    unknown = set(given.names) - {source.name for source in sources}
    if unknown:
        parser.error(f"the manifest has no {', '.join(sorted(unknown))}")
    chosen = [s for s in sources if (not given.names or s.name in given.names) and (not given.pypi or s.pypi)]
    rows: list[Row] = []
    for source in chosen:
        with tempfile.TemporaryDirectory(prefix="corpus-") as folder:
            if given.verify:
                return verify(source, Path(folder))
            row = check(source, Path(folder), given.accept)
            shutil.rmtree(Path(folder), ignore_errors=True)
            Path(folder).mkdir(exist_ok=True)
        rows.append(row)
        console.print(f"{source.name}: {row.state} ({row.seconds:.1f} s)", highlight=False)
        for line in row.said[: None if given.accept else 20]:
            console.print(f"    {line}", markup=False, highlight=False, soft_wrap=True)
        if given.unseen:
            for fate in row.fates:
                if fate.kind == "fault":
                    console.print(
                        f"    {fate.emitter.path}:{fate.emitter.line} {fate.emitter.what}",
                        markup=False,
                        highlight=False,
                    )
    show(rows, console)
    if not given.names and not given.pypi:
        PAGE.write_text(page([kept(source) for source in sources]), "utf-8")
    return int(any(row.state in ("failed", "differs", "no golden") for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
