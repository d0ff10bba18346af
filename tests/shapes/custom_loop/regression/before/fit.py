import numpy as np

X = np.array([1.0, 2.0, 3.0])
y = np.array([2.0, 4.0, 6.0])
w = np.zeros(3)
ALPHA = 0.1
N_ITERS = 3

for it in range(N_ITERS):
    error = X * w - y
    gradient = X * error * 2
    w -= ALPHA * gradient
    print("Iteration", it, "MSE:", np.mean(error * error))
print([round(v, 3) for v in w])
