"""What a plan costs beside parsing every file once and beside its peers: one run, processor seconds, the same folder.

    python benchmarks/plan_speed.py FOLDER...                      (the unpacked wheels of ray, transformers, verl, trl)
    python benchmarks/plan_speed.py FOLDER --peers ruff pyupgrade libcst
    python benchmarks/plan_speed.py --monorepo 100000              a repository that is made up, in a temporary folder
    python benchmarks/plan_speed.py --start                        `--help`, the import, one file

Everything is processor time (user and system), children included; real time stands beside it. pyupgrade and LibCST write
files, so they work on copies. A peer that is not installed is left out. The exit code is 1 where a plan costs more than
parsing all files.
"""

from __future__ import annotations

import argparse
import ast
import gc
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

PEERS = ("ruff", "pyupgrade", "libcst")
_PLAN = """
import resource, sys, time
from pathlib import Path
from instrument.plan.planner import make_plan
from instrument.plan.rules import all_rules
from instrument.repo.scan import Repository
all_rules()
started, begun = time.process_time(), time.perf_counter()
plan = make_plan(Repository(Path(sys.argv[1])))
usage = resource.getrusage(resource.RUSAGE_SELF)
print(time.process_time() - started, time.perf_counter() - begun, usage.ru_maxrss / 1024, plan.files_seen,
      plan.files_parsed, len(plan.edits), "libcst" in sys.modules)
"""


def parse_all(folder: Path) -> tuple[int, float]:
    """How many files parse, and the processor seconds that takes, with the garbage collector as it is by default."""
    begun, count = time.process_time(), 0
    for path in folder.rglob("*.py"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(path.read_bytes())
            count += 1
        except (SyntaxError, ValueError):
            continue
    gc.collect()
    return count, time.process_time() - begun


def spent(command: list[str], folder: Path | None = None) -> tuple[float, float]:
    """Processor and real seconds of a command with all its children, whatever it says."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - begun


def plan_in_a_process(folder: Path) -> tuple[float, float, float, list[str]]:
    """Processor seconds, real seconds, peak MiB and the counts of one plan in a fresh interpreter."""
    command = [sys.executable, "-W", "ignore", "-c", _PLAN, str(folder)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(out[0]), float(out[1]), float(out[2]), out[3:]


def _ruff(folder: Path) -> tuple[float, float]:
    ruff = _tool("ruff")
    assert ruff is not None
    return spent([ruff, "check", "--select", "F401", "--no-cache", "--isolated", "--quiet", str(folder)])


def _pyupgrade(folder: Path) -> tuple[float, float]:
    tool = _tool("pyupgrade")
    assert tool is not None
    files = [str(path) for path in sorted(folder.rglob("*.py"))]
    processor = real = 0.0
    for start in range(0, len(files), 500):
        more = spent([tool, "--py310-plus", *files[start : start + 500]])
        processor, real = processor + more[0], real + more[1]
    return processor, real


def _libcst(folder: Path) -> tuple[float, float]:
    """The codemod that changes nothing: parse and write back."""
    (folder / ".libcst.codemod.yaml").write_text("modules:\n- libcst.codemod.commands\n")
    command = [sys.executable, "-m", "libcst.tool", "codemod", "--hide-progress", "noop.NOOPCommand", "."]
    return spent(command, folder)


_RUN: dict[str, tuple[str, Callable[[Path], tuple[float, float]], bool]] = {
    "ruff": ("ruff check --select F401", _ruff, False),
    "pyupgrade": ("pyupgrade --py310-plus", _pyupgrade, True),
    "libcst": ("libcst codemod noop", _libcst, True),
}


def _tool(name: str) -> str | None:
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def compare(folder: Path, peers: list[str]) -> bool:
    """Print one table. Returns whether the plan costs less than the parsing."""
    files, parsing = parse_all(folder)
    processor, real, memory, (seen, parsed, edits, _) = plan_in_a_process(folder)
    command = [sys.executable, "-W", "ignore", "-m", "instrument", "check", "--json", str(folder)]
    whole = spent(command)
    print(f"\n{folder.name}: {files} Python files parse; the plan has seen {seen}, parsed {parsed}, {edits} edits")
    print(f"{'':32} {'processor':>10} {'real':>9}   beside the plan")
    _row("plan", processor, real, processor)
    print(f"{'':32} peak memory {memory:.0f} MiB")
    _row("ast.parse of every file", parsing, parsing, processor)
    _row("instrument check, start included", *whole, processor)
    for peer in peers:
        title, run, writes = _RUN[peer]
        if peer != "libcst" and _tool(peer) is None:
            print(f"{title:32} not installed")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            place = folder
            if writes:
                place = Path(scratch, folder.name)
                shutil.copytree(folder, place, ignore=shutil.ignore_patterns("*.so", "*.jar", "node_modules"))
            _row(title, *run(place), processor)
    print(f"{'plan / ast.parse':32} {processor / parsing:10.2f}")
    return processor < parsing


def _row(title: str, processor: float, real: float, plan: float) -> None:
    print(f"{title:32} {processor:8.2f} s {real:7.2f} s   {processor / plan:7.2f}")


def monorepo(count: int) -> None:
    """Make a repository of many small files, one in a thousand of which records to W&B, and plan on it."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch, "monorepo")
        for number in range(count):
            folder = root / f"team{number % 97:02}" / f"service{number // 97 % 211:03}"
            folder.mkdir(parents=True, exist_ok=True)
            text = _TRAINER if number % 1000 == 0 else _MODULE
            (folder / f"module{number:06}.py").write_text(text.format(number=number))
        size = sum(path.stat().st_size for path in root.rglob("*.py")) / 1e6
        processor, real, memory, (seen, parsed, edits, _) = plan_in_a_process(root)
        print(f"\nmonorepo: {seen} files, {size:.0f} MB; parsed {parsed}, {edits} edits")
        print(f"{'plan':32} {processor:8.2f} s {real:7.2f} s   peak memory {memory:.0f} MiB")


_MODULE = '''"""Service {number}: reads orders and writes reports."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from pathlib import Path

logger = logging.getLogger(__name__)


@dataclass
class Order{number}:
    """One order with its lines."""

    name: str
    lines: list[str] = field(default_factory=list)

    def total(self, prices: dict[str, float]) -> float:
        return sum(prices.get(line, 0.0) for line in self.lines)


def load{number}(path: Path) -> list[Order{number}]:
    rows = json.loads(path.read_text("utf-8"))
    logger.info("read %d orders", len(rows))
    return [Order{number}(row["name"], row["lines"]) for row in rows]


def main() -> None:
    for order in load{number}(Path("orders.json")):
        print(order.name, order.total({{"apple": 1.0, "pear": 2.0}}))


if __name__ == "__main__":
    main()
'''
_TRAINER = '''"""Model {number}."""

import wandb


def train(epochs: int = 3) -> None:
    run = wandb.init(project="service{number}", config={{"epochs": epochs}})
    for epoch in range(epochs):
        run.log({{"loss": 1.0 / (epoch + 1)}}, step=epoch)
    run.finish()


if __name__ == "__main__":
    train()
'''


def start() -> None:
    """What it costs before anything is done, and one file for an editor."""
    empty = _least([sys.executable, "-c", "pass"])
    help_ = _least([sys.executable, "-m", "instrument", "--help"])
    package = _least([sys.executable, "-c", "import instrument"])
    print(f"\n{'':32} {'processor':>10}   above `python -c pass`")
    print(f"{'python -c pass':32} {empty:8.3f} s")
    print(f"{'instrument --help':32} {help_:8.3f} s   {help_ - empty:7.3f} s")
    print(f"{'import instrument':32} {package:8.3f} s   {package - empty:7.3f} s")
    with tempfile.TemporaryDirectory() as scratch:
        for title, text in (("one file, nothing in it", _MODULE), ("one file that logs to W&B", _TRAINER)):
            path = Path(scratch, title.replace(" ", "_") + ".py")
            path.write_text(text.format(number=1))
            seconds = _least([sys.executable, "-m", "instrument", "check", str(path)])
            print(f"{title:32} {seconds:8.3f} s   {seconds - empty:7.3f} s")
            processor, _, _, rest = plan_in_a_process(path)
            print(f"{'  its plan alone':32} {processor:8.3f} s   LibCST loaded: {rest[-1]}")


def _least(command: list[str], times: int = 5) -> float:
    return min(spent(command)[0] for _ in range(times))


def main() -> int:
    """Run what was asked for. Returns 0 if each plan costs less than the parsing, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=[])
    parser.add_argument("--monorepo", type=int, metavar="FILES")
    parser.add_argument("--start", action="store_true")
    asked = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    costs_less = [compare(folder.resolve(), asked.peers) for folder in asked.folders]
    if asked.monorepo:
        monorepo(asked.monorepo)
    if asked.start:
        start()
    return 0 if all(costs_less) else 1


if __name__ == "__main__":
    raise SystemExit(main())
