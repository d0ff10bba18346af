import wandb


def define(prefix, step_key):
    wandb.define_metric(step_key)
    wandb.define_metric(f"{prefix}/*", step_metric=step_key)
