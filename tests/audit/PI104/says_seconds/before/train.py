import time

import wandb


class Monitor:
    def __init__(self):
        self.start_time = time.time()

    def tick(self, row):
        elapsed = time.time() - self.start_time
        wandb.log(row, step=int(elapsed))  # -> PI104
