import torch
from torch import nn, optim

import probe_tracking as probe


def main():
    model = nn.Linear(1, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    train_losses, val_accs = [], []
    probe.init()
    for epoch in range(2):
        epoch_losses = []
        for x in (1.0, 1.5):
            loss = nn.MSELoss()(model(x), 2.0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            epoch_losses.append(loss.item())
        train_loss = sum(epoch_losses) / len(epoch_losses)
        train_losses.append(train_loss)
        probe.log({"train_loss": train_loss}, step=epoch)
        acc = 1.0 - abs(model.weight.value - 2.0)
        val_accs.append(acc)
        probe.log({"val_acc": acc}, step=epoch)
    probe.finish()
    torch.save({"train": train_losses, "val": val_accs}, "history.pt")
    print(len(train_losses), len(val_accs))


main()
