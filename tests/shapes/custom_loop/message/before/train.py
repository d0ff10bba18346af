w = 2.0
out = open("train.log", "w")
for epoch in range(1, 4):
    grad = 2 * w
    w -= 0.1 * grad
    loss = w * w
    message = f"Epoch {epoch} | train loss: {loss:.4f} | time: {0.1:.1f}s"
    out.write(message + "\n")
    print(message)
out.close()
