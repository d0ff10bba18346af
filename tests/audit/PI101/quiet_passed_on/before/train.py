import wandb


class Logger:
    def __init__(self):
        self.run = wandb.init()

    def define_metric(self, name, step_metric=None):
        self.run.define_metric(name, step_metric=step_metric)
