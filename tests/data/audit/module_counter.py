"""A step counter that is a name of the module, which no checkpoint has."""

import json
import os
import random
import signal

import probe

_step = 0
weight = 5.0


def log(metrics):
    global _step
    probe.log(metrics, step=_step)
    _step += 1


def save_checkpoint(epoch):
    with open("checkpoint.json", "w") as file:
        json.dump({"weight": weight, "epoch": epoch}, file)


def load_checkpoint():
    global weight
    with open("checkpoint.json") as file:
        ckpt = json.load(file)
    weight = ckpt["weight"]
    return ckpt["epoch"] + 1


random.seed(1)
probe.init(name="module", external_id="job-9", capture_reads=False, capture_outputs=False)
first = load_checkpoint() if os.path.exists("checkpoint.json") else 0
for epoch in range(first, 4):
    for _ in range(5):
        weight -= 0.1 * weight * random.random()
        log({"train/loss": weight**2})
        if os.environ.get("KILL_AT") == str(_step):
            os.kill(os.getpid(), signal.SIGKILL)
    save_checkpoint(epoch)
probe.finish()
