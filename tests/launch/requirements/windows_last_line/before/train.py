import wandb

wandb.init()
wandb.log({"loss": 1.0})
