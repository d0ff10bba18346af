import ray
import wandb

ray.init(num_cpus=2)


@ray.remote
def fit():
    wandb.log({"loss": 1.0})


ray.get(fit.remote())
