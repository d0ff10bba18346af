import sys
from dataclasses import dataclass, field

from areal.utils.stats_logger import StatsLogger


@dataclass
class LoggerConfig:
    wandb_mode: str = "disabled"
    wandb_api_key: str = "secret"
    trial_name: str = "first"


@dataclass
class Config:
    stats_logger: LoggerConfig = field(default_factory=LoggerConfig)


class Trainer:
    def __init__(self, config):
        self.stats_logger = StatsLogger(config)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.stats_logger.close()
        return False


with Trainer(Config()) as trainer:
    for step in range(2):
        trainer.stats_logger.commit(0, step, step, {"loss": 1.0 - step, "n__count": 4})
    trainer.stats_logger.commit(0, 2, 2, [{"loss": -1.0}, {"loss": -2.0}])
    if "crash" in sys.argv:
        raise ValueError("diverged")
