import argparse

from torch import nn, optim

from toy import probe_tracking as probe
from toy.engine import evaluate, train_one_epoch


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    return parser.parse_args()


def main():
    args = get_args()
    model = nn.Linear(1, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    data = [(1.0, 2.0), (1.0, 2.5)]
    probe.init(config=args)
    for epoch in range(args.epochs):
        train_loss = train_one_epoch(model, optimizer, data, nn.MSELoss())
        print(f"epoch {epoch}: train loss {train_loss:.4f}")
        probe.log({"train_loss": train_loss}, step=epoch)
        evaluate(model, data, nn.MSELoss())
    probe.finish()
