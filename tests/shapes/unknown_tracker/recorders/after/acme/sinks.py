import wandb

from acme import probe_tracking as probe


class Recorder:
    def __init__(self, config):
        self.config = config

    def log(self, values, step):
        raise NotImplementedError

    def finish(self):
        pass


class WandbRecorder(Recorder):
    def __init__(self, config):
        super().__init__(config)
        self.run = wandb.init(project="acme", config=config)

    def log(self, values, step):
        self.run.log(values, step=step)

    def finish(self):
        self.run.finish()


class StdoutRecorder(Recorder):
    def log(self, values, step):
        print(step, values)


RECORDERS = {"wandb": WandbRecorder, "stdout": StdoutRecorder}


def get_recorder(name, config):
    probe.init(config=config)
    if name not in RECORDERS:
        raise ValueError(name)
    return probe.tee(RECORDERS[name](config))
