import torch.distributed as dist
import wandb


def start():
    wandb.init(project="toy")


def main():
    dist.init_process_group("nccl")
    if dist.get_rank() == 0:
        start()
