w = 3.0


def grad(w):
    return 2 * w


for epoch in range(3): w -= 0.1 * grad(w); print("loss", w * w)
print("end")
