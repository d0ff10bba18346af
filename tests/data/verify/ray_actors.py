import sys

import ray
import wandb

import probe


@ray.remote
class Trainer:
    def __init__(self, rank, opened):
        self.rank = rank
        self.run = wandb.init(project="toy", name=f"actor{rank}")
        if opened:
            probe.init(name=self.run.name)

    def step(self, number):
        self.run.log({"loss": self.rank + 1 / (number + 1)}, step=number)
        if probe.active_run() is not None:
            probe.log({"loss": self.rank + 1 / (number + 1)}, step=number)

    def close(self):
        if probe.active_run() is not None:
            probe.finish()
        self.run.finish()


ray.init(num_cpus=2, include_dashboard=False)
actors = [Trainer.remote(rank, rank == 0 or sys.argv[1] == "all") for rank in range(2)]
for number in range(5):
    ray.get([actor.step.remote(number) for actor in actors])
ray.get([actor.close.remote() for actor in actors])
ray.shutdown()
