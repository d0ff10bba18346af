import argparse

import torch
from torch import nn, optim

import probe_tracking as probe

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--log-interval", type=int, default=2)
args = parser.parse_args()

torch.manual_seed(0)
model = nn.Linear(1, 1)
criterion = nn.MSELoss()
optimizer = optim.SGD(model.parameters(), lr=args.lr)
loader = [(1.0, 2.0), (2.0, 4.0), (1.0, 2.0)]

probe.init(config=args)
for epoch in range(args.epochs):
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        if i % args.log_interval == 0:
            print("Epoch: [{}/{}] step {} Loss: {:.4f}".format(epoch, args.epochs, i, loss.item()))
            probe.log({"loss": loss.item()})
probe.finish()
print("done")
