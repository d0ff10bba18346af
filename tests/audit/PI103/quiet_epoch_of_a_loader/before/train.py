import wandb


def train(epochs, train_loader):
    for epoch in range(epochs):
        for i, batch in enumerate(train_loader):
            global_step = epoch * len(train_loader) + i
            wandb.log({"loss": batch.sum()}, step=global_step)
