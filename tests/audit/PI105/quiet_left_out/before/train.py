import wandb


def log(rewards, step):
    row = {"rollout/samples": len(rewards)}
    if rewards:
        row["reward/mean"] = sum(rewards) / len(rewards)
    wandb.log(row, step=step)
