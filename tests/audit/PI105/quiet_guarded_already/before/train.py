import wandb


def log(rewards, step):
    if rewards:
        wandb.log({"reward/mean": sum(rewards) / len(rewards) if rewards else 0.0}, step=step)
