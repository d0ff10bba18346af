import lightning as L
import torch
from lightning.pytorch.loggers import WandbLogger
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


L.seed_everything(0)
inputs = torch.randn(16, 2)
loader = DataLoader(TensorDataset(inputs, inputs.sum(1, keepdim=True)), batch_size=8)
trainer = L.Trainer(
    max_epochs=2,
    log_every_n_steps=1,
    accelerator="cpu",
    enable_progress_bar=False,
    enable_checkpointing=False,
    enable_model_summary=False,
    logger=WandbLogger(project="toy"),
)
trainer.fit(Line(), loader, loader)
