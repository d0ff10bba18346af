import random

inside = 0
for i in range(1, 1001):
    inside += random.random() ** 2 + random.random() ** 2 < 1
    if i % 500 == 0:
        estimate = 4 * inside / i
        print(f"{i} estimate {estimate:.3f} error {abs(estimate - 3.14159):.3f}")
