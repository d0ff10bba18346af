import os
import modal

deps = ["torch", "wandb"]
base = ["wandb"] + ["x"]
image = modal.Image.debian_slim().pip_install(deps + ["y"])
image = modal.Image.debian_slim().pip_install(["wandb"] + ["y"])
secrets = [modal.Secret.from_name("wandb"), modal.Secret.from_dict({"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})] + []
S = (modal.Secret.from_name("wandb"), modal.Secret.from_dict({"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")}),)


def f():
    for s in [modal.Secret.from_name("wandb")]:
        yield s
    return [modal.Secret.from_name("wandb"), modal.Secret.from_dict({"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})]


app = modal.App(secrets=[modal.Secret.from_name("wandb"), modal.Secret.from_dict({"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})] + secrets)


@app.function(secrets=[modal.Secret.from_name("wandb"), modal.Secret.from_dict({"PROBE_TOKEN": os.environ.get("PROBE_TOKEN", "")})] if deps else [])
def g():
    pass
