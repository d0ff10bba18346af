w = 2.0
for epoch in range(3):
    grad = 2 * w
    w -= 0.1 * grad
    print("loss", w * w)
