def f(x):
    return x * x - 2


x = 1.0
for iteration in range(6):
    x = x - f(x) / (2 * x)
    err = abs(f(x))
    print("iteration", iteration, "error", err)
