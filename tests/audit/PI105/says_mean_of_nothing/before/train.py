import wandb


def log(rewards, step):
    row = {"reward/mean": sum(rewards) / len(rewards) if rewards else 0.0}  # -> PI105
    wandb.log(row, step=step)
