import os

import ray
import wandb

ray.init(
    runtime_env={
        "env_vars": {
            "TOKENIZERS_PARALLELISM": "true",
            "WANDB_API_KEY": os.environ["WANDB_API_KEY"],  # key
            "PROBE_TOKEN": os.environ.get("PROBE_TOKEN", ""),
        },
        "pip": ["wandb==0.17", "probe-research", "trl"],
    }
)
runtime_env = {'env_vars': {'WANDB_API_KEY': (os.getenv('WANDB_API_KEY', '')), 'PROBE_TOKEN': os.getenv('PROBE_TOKEN', ''), 'A': '1'}}
everything = {**os.environ, "WANDB_API_KEY": "x"}
colours = {"WANDB_API_KEY": "red"}
