import wandb

wandb.init(project="toy")

def log(losses, optimizer, step):
    row = {f"train/{name}": value for name, value in losses.items()}
    for group_id, group in enumerate(optimizer.param_groups):
        row[f"train/lr-{group_id}"] = group["lr"]
    wandb.log(row, step=step)
