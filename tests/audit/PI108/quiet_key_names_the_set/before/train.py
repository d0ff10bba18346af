import wandb


def evaluate(loaders, model, step):
    for name, loader in loaders.items():
        wandb.log({f"eval/{name}/accuracy": model.accuracy(loader)}, step=step)
