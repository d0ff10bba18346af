import wandb

wandb.init(project="toy")

def log(loss, acc, step):
    logs = {"loss": loss, "acc": acc, "val/loss": loss}
    logs = {"train/%s" % k: v for k, v in logs.items()}
    wandb.log(logs, step=step)
