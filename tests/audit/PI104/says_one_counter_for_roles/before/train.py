import wandb


def log_step(role, losses, step):
    role_tag = "" if role == "actor" else f"{role}-"
    row = {f"train/{role_tag}{key}": value for key, value in losses.items()}
    row["train/step"] = step  # -> PI104
    wandb.log(row)
