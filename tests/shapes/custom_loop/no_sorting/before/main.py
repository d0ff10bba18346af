values = [3, 1, 2]
for i in range(len(values)):
    for j in range(len(values) - 1):
        if values[j] > values[j + 1]:
            values[j], values[j + 1] = values[j + 1], values[j]
    cost = sum(abs(v - k) for k, v in enumerate(values))
    print("pass", i, "cost", cost)
