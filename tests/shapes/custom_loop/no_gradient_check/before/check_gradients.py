def f(w):
    return w * w


for w in (0.5, 1.0):
    numeric = (f(w + 1e-4) - f(w - 1e-4)) / 2e-4
    error = abs(numeric - 2 * w)
    print(f"w={w} error {error:.2e}")
