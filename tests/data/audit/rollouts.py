"""Rollouts of different sizes; a step is made as rollout * steps + i, and the job can be killed and resumed."""

import json
import os
import random
import signal
from pathlib import Path

import probe

CHECKPOINT = Path("checkpoint.json")
SIZES = [10, 4, 6, 8, 3]


def main():
    probe.init(name="rollouts", external_id="job-7", capture_reads=False, capture_outputs=False)
    weight, start = 5.0, 0
    if CHECKPOINT.exists():
        state = json.loads(CHECKPOINT.read_text())
        weight, start = state["weight"], state["rollout"] + 1
    random.seed(start)
    for rollout in range(start, len(SIZES)):
        microbatches = [random.random() for _ in range(SIZES[rollout])]
        for i, batch in enumerate(microbatches):
            weight -= 0.1 * weight * batch
            step = rollout * len(microbatches) + i
            probe.log({"train/loss": weight**2, "train/weight": weight}, step=step)
            if os.environ.get("KILL_AT") == f"{rollout}.{i}":
                os.kill(os.getpid(), signal.SIGKILL)
        CHECKPOINT.write_text(json.dumps({"weight": weight, "rollout": rollout}))
    probe.finish()


if __name__ == "__main__":
    main()
