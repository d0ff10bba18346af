import wandb

wandb.init(project="toy")
wandb.log({"loss": 1.0})
