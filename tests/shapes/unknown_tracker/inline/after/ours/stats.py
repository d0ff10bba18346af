import trackio
import wandb

from ours import probe_tracking as probe


class Stats:
    def start(self, config):
        probe.init(config=config)
        wandb.init(config=config, mode="offline")
        trackio.init(project="toy", config=config)

    def send(self, row, step):
        probe.log(row, step=step)
        wandb.log(row, step=step)
        trackio.log(row)

    def end(self):
        probe.finish()
        wandb.finish()
        trackio.finish()
