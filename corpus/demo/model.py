"""A network with one hidden layer, its loss and its gradient, without any library."""

import math
import random


class Network:
    def __init__(self, hidden, seed):
        rng = random.Random(seed)
        self.w = [[rng.gauss(0, 2.0), rng.gauss(0, 2.0), rng.gauss(0, 1.0)] for _ in range(hidden)]
        self.v = [rng.gauss(0, 0.5) for _ in range(hidden)]
        self.b = 0.0

    def _hidden(self, x, y):
        return [math.tanh(a * x + b * y + c) for a, b, c in self.w]

    def forward(self, x, y):
        z = self.b + sum(v * h for v, h in zip(self.v, self._hidden(x, y)))
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, z))))

    def loss(self, x, y, target):
        p = min(max(self.forward(x, y), 1e-7), 1.0 - 1e-7)
        return -(target * math.log(p) + (1.0 - target) * math.log(1.0 - p))

    def update(self, batch, lr):
        """One step of gradient descent; returns the loss and the gradient's norm before it."""
        size = len(self.v)
        dw, dv, db, loss = [[0.0, 0.0, 0.0] for _ in range(size)], [0.0] * size, 0.0, 0.0
        for x, y, target in batch:
            hidden = self._hidden(x, y)
            error = (self.forward(x, y) - target) / len(batch)
            loss += self.loss(x, y, target) / len(batch)
            db += error
            for i, h in enumerate(hidden):
                dv[i] += error * h
                back = error * self.v[i] * (1.0 - h * h)
                dw[i][0] += back * x
                dw[i][1] += back * y
                dw[i][2] += back
        norm = math.sqrt(db * db + sum(g * g for g in dv) + sum(g * g for row in dw for g in row))
        self.b -= lr * db
        for i in range(size):
            self.v[i] -= lr * dv[i]
            for j in range(3):
                self.w[i][j] -= lr * dw[i][j]
        return loss, norm
