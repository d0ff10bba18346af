import torch
import torch.distributed as dist
import wandb

import probe

dist.init_process_group("gloo")
rank = dist.get_rank()
if rank == 0:
    wandb.init(project="toy", config={"world": dist.get_world_size()})
    probe.init(name=wandb.run.name, config=dict(wandb.config))
total = torch.zeros(1)
for step in range(8):
    total += rank + 1
    summed = total.clone()
    dist.all_reduce(summed)
    if rank == 0:
        wandb.log({"sum": summed.item() / 3, "tensor": summed}, step=step)
        probe.log({"sum": summed.item() / 3, "tensor": summed}, step=step)
if rank == 0:
    probe.finish()
    wandb.finish()
dist.barrier()
dist.destroy_process_group()
