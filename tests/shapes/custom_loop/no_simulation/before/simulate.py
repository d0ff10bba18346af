dt = 0.1
x, v = 1.0, 0.0
for step in range(5):
    v -= dt * x
    x += dt * v
    energy = 0.5 * (x * x + v * v)
    print(f"step {step} energy {energy:.4f}")
