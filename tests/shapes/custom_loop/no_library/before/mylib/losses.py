def mse(a, b):
    total_loss = 0.0
    for x, y in zip(a, b):
        loss = (x - y) ** 2
        total_loss += loss
    return total_loss
