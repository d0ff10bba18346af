import os

import ray
import wandb

ray.init(
    runtime_env={
        "env_vars": {
            "TOKENIZERS_PARALLELISM": "true",
            "WANDB_API_KEY": os.environ["WANDB_API_KEY"],  # key
        },
        "pip": ["wandb==0.17", "trl"],
    }
)
runtime_env = {'env_vars': {'WANDB_API_KEY': (os.getenv('WANDB_API_KEY', '')), 'A': '1'}}
everything = {**os.environ, "WANDB_API_KEY": "x"}
colours = {"WANDB_API_KEY": "red"}
