import wandb
from torch.utils.tensorboard import SummaryWriter


class Sink:
    def init(self, args, **kwargs):
        pass

    def log(self, metrics, step=None):
        raise NotImplementedError

    def finish(self):
        pass


class WandbSink(Sink):
    def init(self, args, **kwargs):
        self.run = wandb.init(project=args.project, config=vars(args))

    def log(self, metrics, step=None):
        self.run.log(metrics, step=step)

    def finish(self):
        self.run.finish()


class BoardSink(Sink):
    def init(self, args, **kwargs):
        self.writer = SummaryWriter(args.logdir)

    def log(self, metrics, step=None):
        for key, value in metrics.items():
            self.writer.add_scalar(key, value, step)

    def finish(self):
        self.writer.close()


SINKS = {
    "wandb": (WandbSink, "use_wandb"),
    "tensorboard": (BoardSink, "use_tensorboard"),
}


class SinkManager:
    def __init__(self, registry):
        self.registry = registry
        self.active = []

    def init(self, args, **kwargs):
        for name, (cls, flag) in self.registry.items():
            if getattr(args, flag, False):
                sink = cls()
                sink.init(args, **kwargs)
                self.active.append(sink)

    def log(self, metrics, step=None):
        for sink in self.active:
            sink.log(metrics, step=step)

    def finish(self):
        for sink in self.active:
            sink.finish()


_manager = SinkManager(SINKS)


def start(args):
    _manager.init(args)


def record(metrics, step):
    _manager.log(metrics, step=step)


def stop():
    _manager.finish()
