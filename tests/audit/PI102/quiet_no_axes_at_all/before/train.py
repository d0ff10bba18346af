import wandb

wandb.init(project="toy")

for i in range(3):
    wandb.log({"loss": 1.0 / (i + 1)})
