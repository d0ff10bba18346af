"""Axes of W&B: one declaration lacks its axis, one row lacks its counter."""

import wandb

wandb.init(project="toy")
wandb.define_metric("train/step")
wandb.define_metric("train/*", step_metric="train/step", step_sync=False)
wandb.define_metric("eval/step")
wandb.define_metric("eval/loss")
for update in range(12):
    step = update * 10
    wandb.log({"train/step": step, "train/loss": 1 / (update + 1)})
    wandb.log({"train/grad_norm": 2 / (update + 1)})
    if update % 4 == 0:
        wandb.log({"eval/step": step, "eval/loss": 2 / (update + 1)})
wandb.finish()
