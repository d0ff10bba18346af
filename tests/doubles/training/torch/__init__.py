"""A few lines of torch's shape: one parameter, a loss, an optimizer. The same numbers each time."""

from contextlib import contextmanager

from . import nn, optim


class Tensor:
    def __init__(self, value, grads=()):
        self.value, self.grads = float(value), grads

    def item(self):
        return self.value

    def detach(self):
        return self

    def backward(self):
        for parameter, grad in self.grads:
            parameter.grad += grad

    def __float__(self):
        return self.value

    def __format__(self, spec):
        return format(self.value, spec)

    def __truediv__(self, other):
        return Tensor(self.value / other, [(p, g / other) for p, g in self.grads])

    def __lt__(self, other):
        return self.value < float(other)


def tensor(value):
    return Tensor(value)


def manual_seed(seed):
    pass


@contextmanager
def no_grad():
    yield


def save(state, path):
    pass
