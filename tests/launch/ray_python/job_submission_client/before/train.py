import ray
import wandb

# The job has the token: a variable in both would end it before it begins.
ray.init(runtime_env={"env_vars": {"WANDB_API_KEY": ""}})
wandb.log({"loss": 1.0})
