import torch
from torch import nn


def evaluate(model, loader, criterion):
    total = 0.0
    for step, (x, y) in enumerate(loader):
        with torch.no_grad():
            loss = criterion(model(x), y)
        total += loss.item()
        print(f"step {step} loss {loss.item():.4f}")
    accuracy = 1 - total
    print("accuracy", accuracy)


evaluate(nn.Linear(1, 1), [(1.0, 2.0)], nn.MSELoss())
