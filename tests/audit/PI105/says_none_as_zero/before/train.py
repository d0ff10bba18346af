import wandb


def log(rewards, step):
    rewards = [0.0 if r is None else r for r in rewards]  # -> PI105
    wandb.log({"reward/mean": sum(rewards) / len(rewards)}, step=step)
