import torch.distributed as dist
import wandb

dist.init_process_group("nccl")
if dist.get_rank() == 0:
    wandb.init(project="toy")
