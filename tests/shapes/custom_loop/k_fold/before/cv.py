from torch import nn, optim

data = [(1.0, 2.0), (1.0, 2.2), (1.0, 1.8)]
scores = []
for fold in range(3):
    train_set = [row for i, row in enumerate(data) if i != fold]
    valid_set = [data[fold]]
    model = nn.Linear(1, 1)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        for x, y in train_set:
            loss = nn.MSELoss()(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        val_loss = sum(nn.MSELoss()(model(x), y).item() for x, y in valid_set)
        print(f"fold {fold} epoch {epoch} val_loss {val_loss:.4f}")
    scores.append(val_loss)
print("mean %.4f" % (sum(scores) / len(scores)))
