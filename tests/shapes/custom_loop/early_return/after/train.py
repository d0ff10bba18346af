import probe_tracking as probe


def train(lr=0.1, patience=2, max_epochs=50):
    w, best, bad = 5.0, float("inf"), 0
    probe.init(config={"lr": lr, "max_epochs": max_epochs})
    for epoch in range(max_epochs):
        grad = 2 * (w - 1)
        w -= lr * grad
        val_loss = round((w - 1) ** 2, 3)
        print("epoch", epoch, "val_loss", val_loss)
        probe.log({"val_loss": val_loss}, step=epoch)
        if val_loss >= best:
            bad += 1
            if bad >= patience:
                return best
        else:
            best, bad = val_loss, 0
    probe.finish()
    return best


print("best", train())
print("best", train(lr=0.5))
