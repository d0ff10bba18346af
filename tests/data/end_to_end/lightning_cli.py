import torch
from lightning.pytorch import LightningModule
from lightning.pytorch.cli import LightningCLI
from lightning.pytorch.demos.boring_classes import BoringDataModule


class Line(LightningModule):
    def __init__(self, lr: float = 0.01):
        super().__init__()
        self.lr = lr
        self.layer = torch.nn.Linear(32, 2)

    def training_step(self, batch, number):
        loss = self.layer(batch).sum()
        self.log("train/loss", loss)
        return loss

    def validation_step(self, batch, number):
        self.log("val/loss", self.layer(batch).sum())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr)


if __name__ == "__main__":
    LightningCLI(Line, BoringDataModule, save_config_callback=None)
