from torch import nn, optim

model = nn.Linear(1, 1)
optimizer = optim.SGD(model.parameters(), lr=0.05)


def evaluate(model):
    for i, target in enumerate([1.0, 2.0]):
        loss = nn.MSELoss()(model(1.0), target)
        print(f"sample {i} loss {loss.item():.3f}")


for epoch in range(2):
    loss = nn.MSELoss()(model(1.0), 2.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    evaluate(model)
