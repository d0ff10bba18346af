import trackio
import wandb


class Stats:
    def start(self, config):
        wandb.init(config=config, mode="offline")
        trackio.init(project="toy", config=config)

    def send(self, row, step):
        wandb.log(row, step=step)
        trackio.log(row)

    def end(self):
        wandb.finish()
        trackio.finish()
