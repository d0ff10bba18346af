class SGD:
    def __init__(self, parameters, lr=0.1, **rest):
        self.parameters, self.lr = list(parameters), lr
        self.param_groups = [{"lr": lr}]

    def zero_grad(self, set_to_none=True):
        for parameter in self.parameters:
            parameter.grad = 0.0

    def step(self, closure=None):
        found = closure() if closure else None
        for parameter in self.parameters:
            parameter.value -= self.lr * parameter.grad
        return found


Adam = SGD
