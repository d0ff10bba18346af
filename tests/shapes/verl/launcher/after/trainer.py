from omegaconf import OmegaConf
from verl.utils.tracking import Tracking

import probe_tracking as probe


class Trainer:
    def __init__(self, config):
        self.config = config
        self.global_steps = 0

    def fit(self):
        self.logger = Tracking(
            project_name=self.config.trainer.project_name,
            experiment_name=self.config.trainer.experiment_name,
            default_backend=self.config.trainer.logger,
            config=OmegaConf.to_container(self.config, resolve=True),
        )
        probe.init(name=self.config.trainer.experiment_name, config=self.config)
        for _ in range(3):
            self.global_steps += 1
            metrics = self.step()
            self.logger.log(data=metrics, step=self.global_steps)
            probe.log(metrics, step=self.global_steps)

    def step(self):
        return {"actor/loss": 1 / self.global_steps}
