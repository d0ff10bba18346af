from toy import probe_tracking as probe


def train_one_epoch(model, optimizer, data, criterion):
    total = 0.0
    for x, y in data:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(data)


def evaluate(model, data, criterion):
    loss = sum(criterion(model(x), y).item() for x, y in data) / len(data)
    print(f"  eval loss {loss:.4f}")
    probe.log({"eval_loss": loss})
    return loss
