import wandb

wandb.init(project="toy")

def log(loss, lr, acc, norm, step):
    wandb.log({"loss": loss, "lr": lr, "acc": acc, "norm": norm}, step=step)
