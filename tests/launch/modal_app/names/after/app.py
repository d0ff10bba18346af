import os

import modal
from modal import Secret

wandb_secret = modal.Secret.from_name("wandb")
SECRETS = [Secret.from_name("wandb-secret"), Secret.from_dict({"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}), Secret.from_name("hf")]
options = {"secrets": [modal.Secret.from_name("keys", required_keys=["WANDB_API_KEY"]), modal.Secret.from_dict({"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})]}
app = modal.App("toy")


@app.function(secrets=[wandb_secret, modal.Secret.from_dict({"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})])
def one():
    pass


@app.function(secrets=SECRETS)
def two():
    pass


@app.function(**options)
def three():
    pass


@app.function(secret=modal.Secret.from_name("wandb"))
def four():
    pass


@app.function(secrets=[modal.Secret.from_name("hf")])
def five():
    pass
