import modal
from modal import Secret

wandb_secret = modal.Secret.from_name("wandb")
SECRETS = [Secret.from_name("wandb-secret"), Secret.from_name("hf")]
options = {"secrets": [modal.Secret.from_name("keys", required_keys=["WANDB_API_KEY"])]}
app = modal.App("toy")


@app.function(secrets=[wandb_secret])
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
