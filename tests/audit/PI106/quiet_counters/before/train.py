import wandb

wandb.init(project="toy")

def log(loss, epoch, step):
    wandb.log({"train/loss": loss, "epoch": epoch, "global_step": step})
