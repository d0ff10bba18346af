import sys

from omegaconf import DictConfig
from torchtune import config, training
from torchtune.training.metric_logging import DiskLogger


class Recipe:
    def setup(self, cfg: DictConfig) -> None:
        if self._is_rank_zero:
            self._metric_logger = config.instantiate(cfg.metric_logger)

            # log config with parameter override
            self._metric_logger.log_config(cfg)
        self._model = config.instantiate(cfg.model)

    def train(self) -> None:
        for self.global_step in range(10):
            loss = self._model()
            if self._is_rank_zero:
                self._metric_logger.log_dict({"loss": loss}, step=self.global_step)

    def cleanup(self) -> None:
        self._metric_logger.close()


@config.parse
def recipe_main(cfg: DictConfig) -> None:
    recipe = Recipe()
    recipe.setup(cfg=cfg)
    recipe.train()
    recipe.cleanup()
    extra = DiskLogger("logs")
    extra.log("done", 1.0, step=1)


if __name__ == "__main__":
    sys.exit(recipe_main())
