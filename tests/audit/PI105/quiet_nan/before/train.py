import wandb


def log(rewards, step):
    wandb.log({"reward/mean": sum(rewards) / len(rewards) if rewards else float("nan")}, step=step)
