from torch import nn, optim


def run_epoch(model, data, optimizer=None):
    total = 0.0
    for x, y in data:
        loss = nn.MSELoss()(model(x), y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total += loss.item()
    print(f"loss {total / len(data):.4f}")


model = nn.Linear(1, 1)
optimizer = optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    run_epoch(model, [(1.0, 2.0)], optimizer)
    run_epoch(model, [(1.0, 3.0)])
