from torchtitan.config import ConfigManager
from torchtitan.tools.logging import init_logger
from torchtitan.trainer import Trainer


class OurTrainer(Trainer):
    def post_dataloading_process(self, *args):
        return super().post_dataloading_process(*args)


def main() -> None:
    init_logger()
    config = ConfigManager().parse_args()
    trainer: Trainer | None = None
    try:
        trainer = config.build()
        trainer.train()
    finally:
        if trainer:
            trainer.close()


def ours(config):
    OurTrainer(config).train()


if __name__ == "__main__":
    main()
