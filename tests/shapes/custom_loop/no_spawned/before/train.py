import multiprocessing as mp

from torch import nn, optim


def train(rank, model):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        loss = nn.MSELoss()(model(1.0), 2.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch} loss {loss.item()}")


if __name__ == "__main__":
    workers = [mp.Process(target=train, args=(rank, nn.Linear(1, 1))) for rank in range(2)]
    for worker in workers:
        worker.start()
