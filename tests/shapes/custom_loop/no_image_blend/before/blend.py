alpha = 0.5
out = [0.0, 0.0]
for frame in ([1.0, 2.0], [3.0, 4.0]):
    out = [alpha * a + (1 - alpha) * b for a, b in zip(frame, out)]
    error = sum(abs(a - b) for a, b in zip(frame, out))
    print("frame error", error)
