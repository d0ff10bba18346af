from torchtitan.config import ConfigManager
from torchtitan.tools.logging import init_logger
from torchtitan.trainer import Trainer

from probe_tracking import record_torchtitan


class OurTrainer(Trainer):
    def post_dataloading_process(self, *args):
        return super().post_dataloading_process(*args)


def main() -> None:
    init_logger()
    config = ConfigManager().parse_args()
    trainer: Trainer | None = None
    try:
        trainer = config.build()
        record_torchtitan(trainer)
        trainer.train()
    finally:
        if trainer:
            trainer.close()


def ours(config):
    trainer = OurTrainer(config)
    record_torchtitan(trainer)
    trainer.train()


if __name__ == "__main__":
    main()
