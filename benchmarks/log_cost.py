"""What a call of the module's `log` costs the training thread, beside `wandb.log` in an offline run.

    python benchmarks/log_cost.py [--calls 1000] [--pause 0.01]

Both run as in a training, offline: W&B's service and the SDK's thread are at work meanwhile, and `--pause` seconds
between calls stand for the step (time.sleep lets go of the interpreter, as a kernel launch does). Prints the median and
the 95th percentile in microseconds and the module's share of W&B's. Needs wandb and probe-research.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from instrument.plan import render

KEYS = (5, 50, 500)
#: The most that a call may cost, as a share of `wandb.log` with the same row.
ALLOWED = 0.1


Call = Callable[[dict[str, float], int], object]


def measure(call: Call, keys: int, calls: int, pause: float) -> tuple[float, float]:
    """Median and 95th percentile of a call, in microseconds."""
    times = []
    for number in range(calls):
        row = {f"train/metric_{index}": number + index / 7 for index in range(keys)}
        if pause:
            time.sleep(pause)
        start = time.perf_counter()
        call(row, number)
        times.append(time.perf_counter() - start)
    times.sort()
    return times[len(times) // 2] * 1e6, times[len(times) * 95 // 100] * 1e6


def child(what: str, keys: int, calls: int, pause: float) -> None:
    """One measurement in a process of its own, printed as two numbers."""
    warnings.simplefilter("ignore")
    home = tempfile.mkdtemp()
    os.environ.update(
        HOME=home, WANDB_MODE="offline", WANDB_SILENT="true", WANDB_DIR=home, PROBE_MODE="offline",
        PROBE_OUTBOX_DIR=os.path.join(home, "outbox"),
    )  # fmt: skip
    probe: Any = types.ModuleType("probe_tracking")
    exec(compile(render.render_module(["core", "wandb"]), "probe_tracking.py", "exec"), probe.__dict__)
    call: Call
    with contextlib.redirect_stdout(io.StringIO()):
        if what == "sdk":
            import probe as sdk

            run = sdk.init(capture_reads=False, capture_outputs=False)
            call = lambda row, step: run.log(row, step=step)  # noqa: E731
        elif what == "nothing":
            call = lambda row, step: None  # noqa: E731
        else:
            import wandb

            wandb.init(project="cost")
            if what == "wandb":
                call = lambda row, step: wandb.log(row)  # noqa: E731
            else:
                probe.init()
                call = {
                    "module": lambda row, step: probe.log(row),
                    "module, explicit step": lambda row, step: probe.log(row, step=step),
                }[what]
        measure(call, keys, min(calls, 50), pause)
        middle, high = measure(call, keys, calls, pause)
    print(middle, high, flush=True)
    os._exit(0)  # what waits is of no interest


def main() -> int:
    """Print the table. 1 if a call costs more than it may."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0.01)
    parser.add_argument("--child", nargs=2, metavar=("WHAT", "KEYS"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child[0], int(given.child[1]), given.calls, given.pause)
    print("microseconds a call on the training thread: median (95th percentile)", end="; ")
    print(f"{given.calls} calls, {given.pause} s apart")
    print(f"{'keys':>5} {'wandb.log':>18} {'module':>18} {'share':>6} {'module, own step':>18} {'SDK without it':>20}")
    worst = 0.0
    for keys in KEYS:
        found = {}
        for what in ("wandb", "module", "module, explicit step", "sdk"):
            calls = given.calls if what != "sdk" else min(given.calls, 100)
            command = [sys.executable, __file__, "--calls", str(calls), "--pause", str(given.pause)]
            command += ["--child", what, str(keys)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            middle, high = map(float, done.stdout.split()[-2:])
            found[what] = (middle, f"{middle:.1f} ({high:.1f})")
        share = found["module"][0] / found["wandb"][0]
        worst = max(worst, share, found["module, explicit step"][0] / found["wandb"][0])
        print(
            f"{keys:>5} {found['wandb'][1]:>18} {found['module'][1]:>18} {share:>6.3f} "
            f"{found['module, explicit step'][1]:>18} {found['sdk'][1]:>20}"
        )
    print(f"largest share {worst:.3f}, allowed {ALLOWED}")
    return int(worst > ALLOWED)


if __name__ == "__main__":
    sys.exit(main())
