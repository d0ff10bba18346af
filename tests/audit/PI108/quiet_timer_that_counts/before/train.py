import time

import wandb


def monitor(gpu):
    tick = 0
    while True:
        time.sleep(1)
        wandb.log({"gpu/memory": gpu.memory()}, step=tick)
        tick += 1
