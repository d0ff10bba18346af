import os


def environment():
    env_vars = {}
    if os.environ.get("WANDB_API_KEY"):
        env_vars["WANDB_API_KEY"] = os.environ["WANDB_API_KEY"]
    if os.environ.get("PROBE_TOKEN", ""):
        env_vars["PROBE_TOKEN"] = os.environ["PROBE_TOKEN"]

    if os.environ.get("MLFLOW_TRACKING_TOKEN"):
        env_vars["MLFLOW_TRACKING_TOKEN"] = os.environ["MLFLOW_TRACKING_TOKEN"]
    return env_vars
