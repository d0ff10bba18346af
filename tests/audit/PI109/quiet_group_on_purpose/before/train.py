import torch.distributed as dist
import wandb

dist.init_process_group("nccl")
wandb.init(project="toy", group="experiment-1")
