from dataclasses import dataclass

from torch import nn, optim

import probe_tracking as probe


@dataclass
class TrainConfig:
    lr: float = 0.1
    epochs: int = 2
    name: str = "toy"


def train(cfg: TrainConfig):
    model = nn.Linear(1, 1)
    optimizer = optim.SGD(model.parameters(), lr=cfg.lr)
    probe.init(config=cfg)
    for epoch in range(1, cfg.epochs + 1):
        loss = nn.MSELoss()(model(1.0), 2.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("epoch %d | loss %.4f" % (epoch, loss.item()))
        probe.log({"loss": loss.item()}, step=epoch)
    probe.finish()


if __name__ == "__main__":
    train(TrainConfig())
