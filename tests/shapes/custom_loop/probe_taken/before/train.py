w = 2.0
probe = 0.5  # how far the validation looks
for step in range(2):
    grad = 2 * w
    w -= 0.1 * grad
    loss = (w + probe) ** 2
    print("loss", loss)
