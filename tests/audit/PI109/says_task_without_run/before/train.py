import ray
import wandb


@ray.remote
def rollout(seed):
    wandb.log({"reward": seed})  # -> PI109


wandb.init(project="toy")
ray.get(rollout.remote(1))
