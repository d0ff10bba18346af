"""Keys without a section beside keys that have one."""

import wandb

wandb.init(project="toy")
for step in range(8):
    metrics = {"loss": 1 / (step + 1), "lr": 0.1 / (step + 1), "rollout/reward": step / 8}
    wandb.log(metrics, step=step)
    if step % 4 == 3:
        wandb.log({"rollout/length": 12 + step, "val_loss": 2 / (step + 1)}, step=step)
wandb.finish()
