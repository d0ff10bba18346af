values = [3.0, -1.0]
for iteration in range(3):
    values = [max(0.0, v - 0.5) for v in values]
    loss = sum(values)
    print(f"iteration {iteration} loss {loss}")
