alpha, avg = 0.1, 0.0
for step, value in enumerate([1.0, 2.0, 3.0]):
    avg = alpha * value + (1 - alpha) * avg
    score = avg * 2
    print(f"step {step} score {score:.3f}")
