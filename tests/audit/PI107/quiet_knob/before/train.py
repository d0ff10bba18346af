import wandb
import wandb.util

wandb.util.VALUE_BYTES_LIMIT = 10_000_000
wandb.init(project="toy")
wandb.run.name = "a"
wandb.config.lr = 0.1
