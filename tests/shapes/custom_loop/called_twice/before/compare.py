from torch import nn, optim


def train(name, lr, epochs=2):
    model = nn.Linear(1, 1)
    optimizer = optim.SGD(model.parameters(), lr=lr)
    for epoch in range(epochs):
        loss = nn.MSELoss()(model(1.0), 2.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"{name}: epoch {epoch} loss {loss.item():.3f}")
    return model


if __name__ == "__main__":
    for name, lr in [("slow", 0.01), ("fast", 0.3)]:
        train(name, lr)
