import torch.distributed as dist
import wandb


def main(args):
    dist.init_process_group("nccl")
    master = dist.get_rank() == 0
    use_wandb = args.wandb and master
    if use_wandb:
        wandb.init(project="toy")


main(None)
