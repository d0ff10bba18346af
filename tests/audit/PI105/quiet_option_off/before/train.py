import wandb


def log(args, kl, loss, step):
    wandb.log({"train/kl_mean": kl.mean() if args.use_kl else 0.0, "train/loss": loss}, step=step)
