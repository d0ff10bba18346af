import wandb
from torch.utils.tensorboard import SummaryWriter


class WandbSink:
    def __init__(self, cfg):
        self.run = wandb.init(project="acme", config=cfg)

    def write(self, scalars, step):
        self.run.log(scalars, step=step)


class BoardSink:
    def __init__(self, cfg):
        self.writer = SummaryWriter("runs")

    def write(self, scalars, step):
        for k, v in scalars.items():
            self.writer.add_scalar(k, v, step)


class Fan:
    def __init__(self, cfg):
        self.sinks = []
        if cfg["wandb"]:
            self.sinks.append(WandbSink(cfg))
        if cfg["tensorboard"]:
            self.sinks.append(BoardSink(cfg))

    def write(self, scalars, step):
        for sink in self.sinks:
            sink.write(scalars, step)

    def close(self):
        self.sinks.clear()
