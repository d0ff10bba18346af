import time

import wandb


class Watchdog:
    def run(self, trainer):
        while True:
            time.sleep(10)
            wandb.log({"rollout/idle": trainer.idle()}, step=trainer.train_steps)  # -> PI108
