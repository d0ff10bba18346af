import os
from pathlib import Path

import modal

image = modal.Image.debian_slim().pip_install("torch==2", packages_to_install=["wandb", "probe-research"])
app = modal.App("x", image=image)


@app.function(
    gpu="H100",
    secrets=[
        modal.Secret.from_name("hf"),
        modal.Secret.from_name("wandb-secret"),
        modal.Secret.from_dict({"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}),
    ],
)
def train():
    import wandb


@app.function(secrets=[modal.Secret.from_local_environ(["WANDB_API_KEY"]), modal.Secret.from_dict({"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})])
def other():
    import wandb
