import wandb

original_log = wandb.log
try:
    wandb.init()
finally:
    wandb.log = original_log
