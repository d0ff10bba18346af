import time

import wandb


def tick(payload):
    wandb.log({**payload, "_timestamp": time.time()})
