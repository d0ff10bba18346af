import wandb

from prime_rl.monitors.base import Monitor


class WandbMonitor(Monitor):
    def __init__(self, config):
        self.config = config

    async def init(self, config):
        self.wandb = wandb.init(name=self.config.name, config=config)
        wandb.define_metric("*", step_metric="step")

    async def log_metrics(self, metrics, step):
        wandb.log({**metrics, "step": step})

    async def finalize(self):
        wandb.finish(exit_code=0)
