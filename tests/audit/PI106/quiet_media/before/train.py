import wandb

wandb.init(project="toy")

def log(loss, rows, step):
    wandb.log({"train/loss": loss, "examples": wandb.Table(data=rows), "note": f"step {step}"})
