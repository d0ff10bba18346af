import wandb
from torch.utils.tensorboard import SummaryWriter


class W:
    def __init__(self):
        self.run = wandb.init()

    def log_metrics(self, metrics, step):
        self.run.log(metrics, step=step)


class T:
    def __init__(self):
        self.writer = SummaryWriter()

    def log_metrics(self, metrics, step):
        for key, value in metrics.items():
            self.writer.add_scalar(key, value, step)


class Loggers:
    def __init__(self, config):
        self.backends = []
        if config.wandb:
            self.backends.append(W())
        if config.tensorboard:
            self.backends.append(T())

    def log_metrics(self, metrics, step):
        for backend in self.backends:
            backend.log_metrics(metrics, step)

    def close(self):
        pass
