import os

import ray
import wandb


def environment():
    env_vars = {}
    if os.environ.get("WANDB_API_KEY"):
        env_vars["WANDB_API_KEY"] = os.environ["WANDB_API_KEY"]

    if os.environ.get("MLFLOW_TRACKING_TOKEN"):
        env_vars["MLFLOW_TRACKING_TOKEN"] = os.environ["MLFLOW_TRACKING_TOKEN"]
    return env_vars


ray.init(runtime_env={"env_vars": environment()})
run = wandb.init()
run.log({"loss": 1.0}, step=1)
