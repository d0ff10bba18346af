import wandb
