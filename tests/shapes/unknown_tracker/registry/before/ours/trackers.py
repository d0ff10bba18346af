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
    return TRACKERS[name](config)
