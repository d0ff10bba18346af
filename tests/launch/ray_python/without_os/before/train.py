import ray
import wandb
from ray.runtime_env import RuntimeEnv

env = RuntimeEnv(env_vars={"WANDB_API_KEY": "x"}, pip=["wandb", "torch"])
ray.init("ray://head:10001", runtime_env=env)
ray.init(runtime_env={"env_vars": {"WANDB_API_KEY": ""}, "uv": {"packages": ["wandb"]}})
ray.init(runtime_env=dict(env_vars=dict(WANDB_API_KEY="")))
