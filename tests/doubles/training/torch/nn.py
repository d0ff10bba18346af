class Parameter:
    def __init__(self, value):
        self.value, self.grad = value, 0.0


class Linear:
    def __init__(self, *shape):
        self.weight = Parameter(4.0)

    def __call__(self, x):
        return (self.weight, x)

    def parameters(self):
        return [self.weight]

    def state_dict(self):
        return {}

    def train(self, mode=True):
        return self

    def eval(self):
        return self

    def to(self, device):
        return self


class MSELoss:
    def __call__(self, output, target):
        from . import Tensor

        weight, x = output
        error = weight.value * x - target
        return Tensor(error * error, [(weight, 2 * error * x)])
