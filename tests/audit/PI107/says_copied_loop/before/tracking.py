import wandb


class Tracking:
    def __init__(self, backend):
        wandb.init()

    def log(self, data, step):
        wandb.log(data, step=step)
