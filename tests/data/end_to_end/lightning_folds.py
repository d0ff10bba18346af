"""A Trainer for each fold, with loggers given in every way; Lightning's CSV files are the record."""

import lightning as L
import torch
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, TensorDataset


class Line(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, number):
        loss = ((self.layer(batch[0]) - batch[1]) ** 2).mean()
        self.log("train/loss", loss, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch, number):
        self.log("val/loss", ((self.layer(batch[0]) - batch[1]) ** 2).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def settings():
    return {
        "max_epochs": 2, "log_every_n_steps": 1, "accelerator": "cpu", "enable_progress_bar": False,
        "enable_checkpointing": False, "enable_model_summary": False,
    }  # fmt: skip


def fit(loader, logger):
    trainer = L.Trainer(logger=logger, **settings())
    trainer.fit(Line(), loader, loader)


def main():
    L.seed_everything(0)
    inputs = torch.randn(16, 2)
    loader = DataLoader(TensorDataset(inputs, inputs.sum(1, keepdim=True)), batch_size=8)
    for fold in range(2):
        trainer = L.Trainer(logger=CSVLogger("csv", name="fold", version=fold), **settings())
        trainer.fit(Line(), loader, loader)
    loggers = []
    for name in ("first", "second"):
        loggers.append(CSVLogger("several", name=name))
    trainer = L.Trainer(logger=loggers, **settings())
    trainer.fit(Line(), loader, loader)
    assert trainer.logger is loggers[0] and len(loggers) == 2
    fit(loader, CSVLogger("csv", name="argument"))
    fit(loader, True)  # Lightning's own: TensorBoard where it is installed
    L.Trainer(logger=False, **settings()).fit(Line(), loader, loader)


if __name__ == "__main__":
    main()
