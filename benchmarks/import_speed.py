"""How fast finished W&B runs are read and brought into the SDK's offline queue, beside the SDK's own reader.

    python benchmarks/import_speed.py [--rows 100000] [--wandb-python PYTHON]

`probe import wandb` reads a run folder with `probe.connectors.wandb.read_local_run`, which needs wandb before 0.30:
`--wandb-python` names a Python that has such a wandb and probe-research; its reader is timed there on the same folder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WRITE = """
import sys, wandb
run = wandb.init(project="bench", name="long", mode="offline")
for n in range(int(sys.argv[1])):
    run.log({"train/loss": 1 / (n + 1), "train/lr": n * 1e-6, "train/grad_norm": n % 7 + 0.5}, step=n)
run.finish()
"""
THEIRS = """
import json, sys, time
from probe.connectors.wandb import discover_run_dirs, read_local_run
began = time.perf_counter()
run = read_local_run(discover_run_dirs(sys.argv[1])[0])
print(json.dumps({"tier": run.tier.value, "points": run.total_points, "seconds": time.perf_counter() - began}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--wandb-python", default=sys.executable, help="Python with a wandb that the SDK can read with")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = {
            **os.environ,
            "WANDB_SILENT": "true",
            "WANDB_DIR": name,
            "PROBE_OUTBOX_DIR": str(folder / "outbox"),
            "PROBE_MODE": "offline",
        }
        subprocess.run(
            [sys.executable, "-c", WRITE, str(given.rows)], env=env, check=True, cwd=name, capture_output=True
        )
        size = sum(path.stat().st_size for path in folder.rglob("*.wandb"))
        print(f"one run, {given.rows:,} rows of 3 keys, {size / 1e6:.1f} MB")
        theirs = subprocess.run(
            [given.wandb_python, "-c", THEIRS, name], env=env, capture_output=True, text=True, cwd=name, check=False
        )
        if theirs.returncode == 0:
            said = json.loads(theirs.stdout.splitlines()[-1])
            print(f"the SDK's reader: {said['points']:,} points ({said['tier']}) in {said['seconds']:.2f} s")
        else:
            print("the SDK's reader:", (theirs.stderr.strip().splitlines() or ["failed"])[-1])
        os.environ.update(env)
        from instrument.imports import find, work
        from instrument.imports.ledger import Ledger
        from instrument.imports.send import Target

        began = time.perf_counter()
        ledger = Ledger()
        found = find.runs(folder, ledger)
        read = time.perf_counter() - began
        points = sum(one.points for one in found)
        print(
            f"instrument's reader: {points:,} points ({found[0].tier}) in {read:.2f} s, {points / read:,.0f} points/s"
        )
        began = time.perf_counter()
        outcome = work.carry_out(found, Target(offline=True), ledger, unfinished=True)
        wrote = time.perf_counter() - began
        files = list((folder / "outbox").rglob("ops/*.json"))
        print(
            f"into the offline queue: {outcome.points:,} points in {wrote:.2f} s, {outcome.points / wrote:,.0f} points/s, "
            f"{len(files)} writes"
        )
        began = time.perf_counter()
        again = work.carry_out(find.runs(folder, Ledger()), Target(offline=True), Ledger(), unfinished=True)
        print(f"again: {len(again.imported)} imported, {len(again.already)} there, {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
