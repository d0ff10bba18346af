import wandb

wandb.init(project="toy")

wandb.define_metric("train/step")
wandb.define_metric("train/*", step_metric="train/step")
for name in ("acc", "f1"):
    wandb.define_metric(name)  # -> PI101
