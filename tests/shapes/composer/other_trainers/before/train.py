import composer.functional as cf
from composer.loggers import InMemoryLogger


class Trainer:
    def __init__(self, model, loggers=None):
        self.model = model


cf.apply_blurpool(model)
Trainer(model, loggers=[InMemoryLogger()])
