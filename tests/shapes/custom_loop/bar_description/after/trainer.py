from torch import nn, optim
from tqdm import tqdm

import probe_tracking as probe


class Trainer:
    def __init__(self, model, train_lr=0.1, train_num_steps=3, batch_size=4):
        self.model = model
        self.train_num_steps = train_num_steps
        self.batch_size = batch_size
        self.opt = optim.Adam(model.parameters(), lr=train_lr)
        self.step = 0

    def train(self):
        probe.init(config={"train_num_steps": self.train_num_steps, "batch_size": self.batch_size})
        with tqdm(initial=self.step, total=self.train_num_steps) as pbar:
            while self.step < self.train_num_steps:
                total_loss = 0.
                for _ in range(2):
                    loss = nn.MSELoss()(self.model(1.0), 2.0) / 2
                    total_loss += loss.item()
                    loss.backward()
                pbar.set_description(f'loss: {total_loss:.4f}')
                probe.log({"loss": total_loss}, step=self.step)
                self.opt.step()
                self.opt.zero_grad()
                self.step += 1
                pbar.update(1)
        probe.finish()
        print('training complete')


if __name__ == "__main__":
    Trainer(nn.Linear(1, 1)).train()
