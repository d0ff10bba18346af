import logging

from torch import nn, optim

import probe_tracking as probe

log = logging.getLogger("trainer")


class Trainer:
    def __init__(self, config):
        self.config = config
        self.model = nn.Linear(1, 1)
        self.optimizer = optim.SGD(self.model.parameters(), lr=config["lr"])
        self.global_step = 0
        self.history = {"loss": [], "val": []}

    def train_epoch(self, epoch):
        total = 0.0
        for x, y in self.config["data"]:
            loss = nn.MSELoss()(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.global_step += 1
            total += loss.item()
            if self.global_step % 2 == 0:
                print(f"[{self.global_step}] loss: {loss.item():.4f}")
                probe.log({"loss": loss.item()}, step=self.global_step)
        return total / len(self.config["data"])

    def fit(self):
        probe.init(config=self.config)
        for epoch in range(self.config["epochs"]):
            train_loss = self.train_epoch(epoch)
            self.history["loss"].append(train_loss)
            print(f"epoch {epoch} done, mean train loss {train_loss:.4f}")
            probe.log({"mean_train_loss": train_loss}, step=self.global_step)
        probe.finish()


if __name__ == "__main__":
    trainer = Trainer({"lr": 0.1, "epochs": 2, "data": [(1.0, 2.0), (1.0, 2.5)]})
    trainer.fit()
    print(len(trainer.history["loss"]))
