import wandb  # -> PI107

_init = wandb.init


def init(*args, **kwargs):
    return _init(*args, **kwargs)


wandb.init = init
