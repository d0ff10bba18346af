from composer.trainer import Trainer


def build(**settings):
    return Trainer(**settings)
