import wandb

wandb.init(project="toy")

wandb.define_metric("val/acc", summary="max")
wandb.define_metric("val/loss", goal="minimize", summary="min")
