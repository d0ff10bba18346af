"""`python -m tests.fuzz FIRST LAST [wandb|tensorboard|mlflow]`: instrument the programs of these seeds, run them before and after, say what differs.

Seconds grow with the number: a thousand programs take about two minutes on one core. The exit code is 1 where one differs.
"""

from __future__ import annotations

import sys
import time
from functools import partial

from tests.fuzz import others
from tests.fuzz.programs import differing, program

#: Programs that are planned and run together.
BATCH = 50


def main(first: int, last: int, kind: str = "wandb") -> int:
    make = program if kind == "wandb" else partial(others.program, kind)
    start, wrong, asked = time.perf_counter(), 0, 0
    for at in range(first, last, BATCH):
        for item, faults in differing([make(seed) for seed in range(at, min(at + BATCH, last))]):
            asked += not faults
            wrong += bool(faults)
            if faults:
                print(f"{item.program.name}: {faults[0][:400]}")
    print(
        f"{last - first} programs, {wrong} differ, {asked} said to be in part unseen, {time.perf_counter() - start:.0f} s"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
