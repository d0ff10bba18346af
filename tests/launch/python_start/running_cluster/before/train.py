import ray
import wandb

ray.init(address="auto")


@ray.remote
def fit():
    wandb.log({"loss": 1.0})


ray.get(fit.remote())
