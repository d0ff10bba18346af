import wandb

path = wandb.Api().artifact("team/model:v3").download()
