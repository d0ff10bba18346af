import wandb


def train(loader, model):
    step = 0
    for batch in loader:
        loss = model(batch)
        step += 1
        wandb.log({"train/loss": loss}, step=step)
