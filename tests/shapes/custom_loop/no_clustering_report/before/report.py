clusters = [[1.0, 1.2], [5.0, 5.5]]
for k, points in enumerate(clusters):
    centre = sum(points) / len(points)
    mse = sum((p - centre) ** 2 for p in points) / len(points)
    print(f"cluster {k}: mse {mse:.4f}")
