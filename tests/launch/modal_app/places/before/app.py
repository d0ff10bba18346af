import modal

deps = ["torch", "wandb"]
base = ["wandb"] + ["x"]
image = modal.Image.debian_slim().pip_install(deps + ["y"])
image = modal.Image.debian_slim().pip_install(["wandb"] + ["y"])
secrets = [modal.Secret.from_name("wandb")] + []
S = (modal.Secret.from_name("wandb"),)


def f():
    for s in [modal.Secret.from_name("wandb")]:
        yield s
    return [modal.Secret.from_name("wandb")]


app = modal.App(secrets=[modal.Secret.from_name("wandb")] + secrets)


@app.function(secrets=[modal.Secret.from_name("wandb")] if deps else [])
def g():
    pass
