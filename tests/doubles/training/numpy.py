"""Vectors with the few operations that a regression needs."""


class ndarray(list):
    def _each(self, other, f):
        other = other if isinstance(other, list) else [other] * len(self)
        return ndarray(f(a, b) for a, b in zip(self, other))

    def __add__(self, other):
        return self._each(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._each(other, lambda a, b: a - b)

    def __isub__(self, other):
        return self - other

    def __mul__(self, other):
        return self._each(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._each(other, lambda a, b: a / b)

    def mean(self):
        return sum(self) / len(self)


def array(values):
    return ndarray(values)


def zeros(n):
    return ndarray([0.0] * n)


def mean(values):
    return sum(values) / len(values)
