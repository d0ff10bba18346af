import wandb

_log = wandb.log


def log(row, step=None):
    _log({f"train/{k}": v for k, v in row.items()}, step=step)


wandb.log = log  # -> PI107
