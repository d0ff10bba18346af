import ray
import wandb


@ray.remote
class Learner:
    def __init__(self):
        self.run = wandb.init(project="toy")

    def close(self):
        self.run.finish()
