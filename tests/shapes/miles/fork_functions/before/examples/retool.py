import wandb


def report(turns):
    if wandb.run is not None:
        wandb.log({"debug/turns": turns})
