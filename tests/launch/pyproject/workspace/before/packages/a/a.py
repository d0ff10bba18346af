import wandb
wandb.init()
wandb.log({"a": 1})
