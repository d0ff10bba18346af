from ours import probe_tracking as probe


class PrintTracker:
    def __init__(self, config):
        self.config = config

    def log(self, values, step):
        print(step, values)


class WandbTracker(PrintTracker):
    def __init__(self, config):
        import wandb

        self.run = wandb.init(config=config)

    def log(self, values, step):
        self.run.log(values, step=step)


TRACKERS = {"print": PrintTracker, "wandb": WandbTracker}


def make(name, config):
    probe.init(config=config)
    return probe.tee(TRACKERS[name](config))
