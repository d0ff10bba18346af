import sys

import torch.distributed as dist
import wandb

import probe

dist.init_process_group("gloo")
rank = dist.get_rank()
wandb.init(project="toy", group="two", name=f"rank{rank}")
if rank == 0 or sys.argv[1] == "all":
    probe.init(name=wandb.run.name)
for step in range(5):
    wandb.log({"loss": rank + step / 3}, step=step)
    if probe.active_run() is not None:
        probe.log({"loss": rank + step / 3}, step=step)
if probe.active_run() is not None:
    probe.finish()
wandb.finish()
dist.barrier()
dist.destroy_process_group()
