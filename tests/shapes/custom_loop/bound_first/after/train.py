import probe_tracking as probe

calls = 0
w = 2.0


def evaluate(x):
    global calls
    calls += 1
    return abs(x - 1)


probe.init()
for epoch in range(2):
    grad = w - 1
    w -= 0.5 * grad
    _error = evaluate(w)
    print("epoch", epoch, "error:", _error)
    probe.log({"error": _error}, step=epoch)
    _loss = evaluate(w) ** 2
    print(f"loss {_loss:.4f} after epoch {epoch}")
    probe.log({"loss": _loss}, step=epoch)
probe.finish()
print("calls", calls)
