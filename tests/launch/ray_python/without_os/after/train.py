import os

import ray
import wandb
from ray.runtime_env import RuntimeEnv

env = RuntimeEnv(env_vars={"WANDB_API_KEY": "x", "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}, pip=["wandb", "probe-research", "torch"])
ray.init("ray://head:10001", runtime_env=env)
ray.init(runtime_env={"env_vars": {"WANDB_API_KEY": "", "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}, "uv": {"packages": ["wandb", "probe-research"]}})
ray.init(runtime_env=dict(env_vars=dict(WANDB_API_KEY="", PROBE_TOKEN=os.environ.get("PROBE_TOKEN", ""))))
