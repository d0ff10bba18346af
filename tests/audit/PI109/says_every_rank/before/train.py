import torch.distributed as dist
import wandb

dist.init_process_group("nccl")
wandb.init(project="toy")  # -> PI109
wandb.log({"loss": 1.0})
