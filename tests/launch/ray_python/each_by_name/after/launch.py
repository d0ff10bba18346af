import os

import ray
import wandb

import probe_tracking as probe


def environment():
    env_vars = {}
    if os.environ.get("WANDB_API_KEY"):
        env_vars["WANDB_API_KEY"] = os.environ["WANDB_API_KEY"]
    if os.environ.get("PROBE_TOKEN", ""):
        env_vars["PROBE_TOKEN"] = os.environ["PROBE_TOKEN"]

    if os.environ.get("MLFLOW_TRACKING_TOKEN"):
        env_vars["MLFLOW_TRACKING_TOKEN"] = os.environ["MLFLOW_TRACKING_TOKEN"]
    return env_vars


ray.init(runtime_env={"env_vars": environment()})
run = wandb.init()
probe.init(name=run.name, config=dict(run.config))
run.log({"loss": 1.0}, step=1)
probe.log({"loss": 1.0}, step=1)
