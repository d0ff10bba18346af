import json

import torch
from composer import ComposerModel, Trainer
from composer.loggers import LoggerDestination
from torch.utils.data import DataLoader, TensorDataset


class Line(ComposerModel):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def forward(self, batch):
        return self.layer(batch[0])

    def loss(self, outputs, batch):
        return (outputs - batch[1]).square().mean()


class Keeps(LoggerDestination):
    def __init__(self):
        self.rows = []

    def log_metrics(self, metrics, step=None):
        self.rows.append([{k: float(v) for k, v in metrics.items() if not isinstance(v, str)}, step])


torch.manual_seed(0)
x = torch.randn(32, 2)
data = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
model, kept = Line(), Keeps()
trainer = Trainer(
    model=model,
    train_dataloader=data,
    optimizers=torch.optim.SGD(model.parameters(), lr=0.1),
    max_duration="2ep",
    device="cpu",
    loggers=[kept],
    progress_bar=False,
)
trainer.fit()
trainer.close()
json.dump(kept.rows, open("record.json", "w"))
