"""What a plan costs beside parsing every file once: one run, processor seconds, on a folder of Python.

    python benchmarks/plan_speed.py FOLDER      (for example the unpacked wheel of ray or transformers)

Prints the time of `ast.parse` over every file, of the plan, and their ratio. `--against ruff` runs ruff's F401 on the
same tree as well, where it is installed.
"""

from __future__ import annotations

import argparse
import ast
import gc
import resource
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

from instrument.plan.planner import make_plan
from instrument.repo.scan import Repository


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
    return count, time.process_time() - begun


def main() -> int:
    """Run it all once. Returns 0 if the plan costs less than the parsing, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", choices=["ruff"])
    asked = parser.parse_args()
    files, parsing = parse_all(asked.folder)
    gc.collect()
    begun = time.process_time()
    plan = make_plan(Repository(asked.folder))
    planning = time.process_time() - begun
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'ast.parse of all':24} {parsing:8.2f} s   {files} files")
    print(f"{'plan':24} {planning:8.2f} s   {plan.files_parsed} files parsed, {len(plan.edits)} edits")
    print(f"{'ratio':24} {planning / parsing:8.2f}")
    print(f"{'largest memory':24} {memory:8.0f} MiB")
    ruff = shutil.which("ruff") or str(Path(sys.executable).with_name("ruff"))
    if asked.against and Path(ruff).exists():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [ruff, "check", "--select", "F401", "--no-cache", "--isolated", "--quiet", str(asked.folder)],
            stdout=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{'ruff F401':24} {seconds:8.2f} s   plan is {planning / seconds:.1f} times that")
    return 0 if planning < parsing else 1


if __name__ == "__main__":
    raise SystemExit(main())
