import wandb

wandb.init(project="toy")

wandb.define_metric("train/step")
wandb.define_metric("train/*", step_metric="train/step")
wandb.log({"train/loss": 1.0, "train/step": 1})
