import numpy as np

import probe_tracking as probe

X = np.array([1.0, 2.0, 3.0])
y = np.array([2.0, 4.0, 6.0])
w = np.zeros(3)
ALPHA = 0.1
N_ITERS = 3

probe.init(config={"alpha": ALPHA, "n_iters": N_ITERS})
for it in range(N_ITERS):
    error = X * w - y
    gradient = X * error * 2
    w -= ALPHA * gradient
    _mse = np.mean(error * error)
    print("Iteration", it, "MSE:", _mse)
    probe.log({"mse": _mse}, step=it)
probe.finish()
print([round(v, 3) for v in w])
