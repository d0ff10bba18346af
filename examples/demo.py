"""The whole way once, without an account: `make demo`.

Copies the trainer of corpus/demo, shows the plan and the diff, applies it, runs it with Probe offline and a stand-in
for wandb that records its calls, and compares what each of the two got. Exits 0 when both got the same.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Points = dict[str, list[tuple[int, float]]]


def say(text: str) -> None:
    bold, plain = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() and "NO_COLOR" not in os.environ else ("", "")
    print(f"\n{bold}== {text}{plain}\n", flush=True)


def tool(*arguments: str, folder: Path) -> None:
    print(f"$ instrument {shlex.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "instrument", *arguments], cwd=folder, check=True, stdin=subprocess.DEVNULL)


def show(patch: Path) -> None:
    """The hunks of the files that are edited; the module that is added is told by its length."""
    print(flush=True)
    for part in patch.read_text("utf-8").split("diff --git ")[1:]:
        lines = part.rstrip("\n").split("\n")
        if lines[1].startswith("new file"):
            print(f"{lines[3][6:]}: a new file, {len(lines) - 5} lines\n")
        else:
            print("\n".join(lines[1:]), end="\n\n", flush=True)


def run_trainer(folder: Path, record: Path, state: Path) -> None:
    """Run the edited trainer as its owner would, with everything that leaves the machine switched off."""
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith(("PROBE_", "WANDB_"))},
        "PROBE_MODE": "offline",
        "PROBE_OUTBOX_DIR": str(state / "outbox"),
        "HOME": str(state),
        "WANDB_DOUBLE": str(record),
        "PYTHONPATH": str(ROOT / "tests" / "doubles"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    print("$ PROBE_MODE=offline python train.py", flush=True)
    subprocess.run([sys.executable, "train.py"], cwd=folder, env=environment, check=True, stdin=subprocess.DEVNULL)


def tracker_points(record: Path) -> Points:
    """What the stand-in for wandb recorded."""
    points: Points = {}
    for line in record.read_text("utf-8").splitlines():
        row = json.loads(line)
        for key, value in row["row"].items():
            points.setdefault(key, []).append((row["step"], float(value)))
    return points


def probe_points(state: Path) -> Points:
    """What waits in Probe's outbox to be sent."""
    from instrument.verify.records import read_all

    runs, _ = read_all([path for path in state.rglob("*") if path.is_file()])
    points: Points = {}
    for run in runs:
        for key, series in run.points.items():
            points.setdefault(key, []).extend((int(point.step or 0), point.value) for point in series)
    return {key: sorted(series) for key, series in points.items()}


def table(tracker: Points, probe: Points) -> bool:
    """Print both sides key by key. Returns whether they are equal."""
    keys = sorted({*tracker, *probe})
    width = max(map(len, keys), default=3)
    print(f"{'key':{width}}  {'wandb':>6}  {'probe':>6}  {'last step':>9}  {'last value':>10}  equal")
    same = bool(keys)
    for key in keys:
        one, other = tracker.get(key, []), probe.get(key, [])
        equal = one == other
        same &= equal
        step, value = (one or other)[-1]
        print(f"{key:{width}}  {len(one):>6}  {len(other):>6}  {step:>9}  {value:>10.4f}  {'yes' if equal else 'NO'}")
    return same


def main(arguments: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="instrument-demo-") as name:
        folder, state, record = Path(name, "spirals"), Path(name, "state"), Path(name, "wandb.jsonl")
        patch = Path(name, "change.patch")
        shutil.copytree(ROOT / "corpus" / "demo", folder)
        state.mkdir()
        say("1  What is there, and what would change")
        tool("diff", ".", "--patch", str(patch), folder=folder)
        show(patch)
        say("2  Apply")
        tool("apply", ".", "--yes", "--quiet", folder=folder)
        tool("apply", ".", "--yes", folder=folder)
        say("3  Run it, offline")
        run_trainer(folder, record, state)
        say("4  What arrived")
        same = table(tracker_points(record), probe_points(state))
        say("5  Undo")
        tool("undo", ".", folder=folder)
        changed = subprocess.run(["diff", "-r", str(ROOT / "corpus" / "demo"), str(folder)], check=False).returncode
        print("every file is as it was" if not changed else "undo left a difference")
        return 0 if same and not changed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
