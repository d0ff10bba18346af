calls = 0
w = 2.0


def evaluate(x):
    global calls
    calls += 1
    return abs(x - 1)


for epoch in range(2):
    grad = w - 1
    w -= 0.5 * grad
    print("epoch", epoch, "error:", evaluate(w))
    print(f"loss {evaluate(w) ** 2:.4f} after epoch {epoch}")
print("calls", calls)
