from __future__ import print_function
import argparse
import torch
import torch.nn as nn
import torch.optim as optim

import probe_tracking as probe


def train(args, model, train_loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = nn.MSELoss()(model(data), target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print('Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}'.format(
                epoch, batch_idx, len(train_loader),
                100. * batch_idx / len(train_loader), loss.item()))
            probe.log({"train_loss": loss.item()})


def test(model, test_loader):
    model.eval()
    test_loss = 0
    correct = 0
    with torch.no_grad():
        for data, target in test_loader:
            loss = nn.MSELoss()(model(data), target)
            test_loss += loss.item()
            correct += loss.item() < 1

    test_loss /= len(test_loader)

    print('\nTest set: Average loss: {:.4f}, Accuracy: {}/{} ({:.0f}%)\n'.format(
        test_loss, correct, len(test_loader),
        100. * correct / len(test_loader)))
    probe.log({"test_average_loss": test_loss, "test_accuracy": 100. * correct / len(test_loader)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=2)
    parser.add_argument('--log-interval', type=int, default=1)
    args = parser.parse_args()
    model = nn.Linear(1, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    loader = [(1.0, 2.0), (1.0, 2.0)]
    probe.init(config=args)
    for epoch in range(1, args.epochs + 1):
        train(args, model, loader, optimizer, epoch)
        test(model, loader)
    probe.finish()


if __name__ == '__main__':
    main()
