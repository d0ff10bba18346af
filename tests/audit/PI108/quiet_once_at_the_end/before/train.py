import wandb


def search(candidates, step):
    for i, candidate in enumerate(candidates):
        if candidate.good():
            wandb.log({"search/found": i}, step=step)
            break
