import wandb

wandb.init(project="toy")

def log(loss, step):
    wandb.log({f"train/loss_at_{step}": loss})  # -> PI106
