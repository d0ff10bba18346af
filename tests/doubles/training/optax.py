def sgd(rate):
    class Transformation:
        def init(self, params):
            return {}

        def update(self, grads, state, params=None):
            return -rate * grads, state

    return Transformation()


def apply_updates(params, updates):
    return params + updates
