import wandb


def evaluate(loaders, model, step):
    for name, loader in loaders.items():
        accuracy = model.accuracy(loader)
        wandb.log({"eval/accuracy": accuracy}, step=step)  # -> PI108
