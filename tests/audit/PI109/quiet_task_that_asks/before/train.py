import ray
import wandb


@ray.remote
def rollout(seed):
    if wandb.run is not None:
        wandb.log({"reward": seed})
