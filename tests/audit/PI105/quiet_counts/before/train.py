import wandb


def log(errors, step):
    wandb.log({"errors/count": len(errors) if errors else 0, "errors/num_retries": sum(e.retries for e in errors)}, step=step)
