import hydra
import lightning as L
import torch
from lightning.pytorch.loggers import Logger
from omegaconf import DictConfig
from torch.utils.data import DataLoader, TensorDataset


class Line(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, number):
        loss = ((self.layer(batch[0]) - batch[1]) ** 2).mean()
        self.log("train/loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def instantiate_loggers(logger_cfg: DictConfig) -> list[Logger]:
    logger = []
    for _, conf in logger_cfg.items():
        if isinstance(conf, DictConfig) and "_target_" in conf:
            logger.append(hydra.utils.instantiate(conf))
    return logger


@hydra.main(version_base="1.3", config_path="configs", config_name="train.yaml")
def main(cfg: DictConfig):
    L.seed_everything(0)
    inputs = torch.randn(16, 2)
    loader = DataLoader(TensorDataset(inputs, inputs.sum(1, keepdim=True)), batch_size=8)
    logger = instantiate_loggers(cfg.get("logger"))
    trainer = hydra.utils.instantiate(cfg.trainer, logger=logger)
    trainer.fit(Line(), loader)


if __name__ == "__main__":
    main()
