import logging


def configure_logger(prefix=""):
    logging.basicConfig(format=f"[{prefix}] %(message)s")


def init_tracking(args, primary: bool = True, **kwargs):
    """Open W&B where it is asked for."""
    if not args.use_wandb:
        return
    import wandb

    wandb.init(project="toy", name=None if primary else "worker", config=vars(args))


def finish_tracking(args):
    if not args.use_wandb:
        return
    import wandb

    wandb.finish()


def log(args, metrics, step_key: str):
    if args.use_wandb:
        import wandb

        wandb.log(metrics)
