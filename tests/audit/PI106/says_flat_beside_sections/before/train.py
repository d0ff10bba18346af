import wandb

wandb.init(project="toy")

def log(loss, lr, step):
    wandb.log({"train/loss": loss, "lr": lr, "step": step})  # -> PI106
