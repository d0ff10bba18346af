import torch
from mmengine.evaluator import BaseMetric
from mmengine.model import BaseModel
from mmengine.runner import Runner
from torch.utils.data import DataLoader, TensorDataset


class Line(BaseModel):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def forward(self, x, y, mode):
        made = self.layer(x)
        return {"loss": (made - y).square().mean()} if mode == "loss" else [(made, y)]


class Error(BaseMetric):
    def process(self, data_batch, data_samples):
        self.results += [(made - y).abs().mean().item() for made, y in data_samples]

    def compute_metrics(self, results):
        return {"error": sum(results) / len(results)}


torch.manual_seed(0)
x = torch.randn(32, 2)
data = TensorDataset(x, x.sum(1, keepdim=True))
runner = Runner(
    model=Line(), work_dir="work", train_dataloader=DataLoader(data, batch_size=8), val_dataloader=DataLoader(data, batch_size=8),
    train_cfg=dict(by_epoch=True, max_epochs=3, val_interval=1), val_cfg=dict(), val_evaluator=dict(type=Error),
    optim_wrapper=dict(optimizer=dict(type=torch.optim.SGD, lr=0.1)), default_hooks=dict(logger=dict(type="LoggerHook", interval=2)),
)
runner.train()
