def training(n_steps, lr):
    w = 2.0
    for _ in range(n_steps):
        grad = 2 * w
        w -= lr * grad
        yield w * w


def main():
    lr = 0.25
    for step, loss in enumerate(training(3, lr)):
        print(f"{step} loss {loss}")


main()
