import logging

from slime.probe_tracking import ProbeBackend


_probe = ProbeBackend()


def configure_logger(prefix=""):
    logging.basicConfig(format=f"[{prefix}] %(message)s")


def init_tracking(args, primary: bool = True, **kwargs):
    """Open W&B where it is asked for."""
    _probe.init(args, primary=primary, **kwargs)
    if not args.use_wandb:
        return
    import wandb

    wandb.init(project="toy", name=None if primary else "worker", config=vars(args))


def finish_tracking(args):
    _probe.finish()
    if not args.use_wandb:
        return
    import wandb

    wandb.finish()


def log(args, metrics, step_key: str):
    _probe.log(metrics, step=metrics.get(step_key), step_key=step_key)
    if args.use_wandb:
        import wandb

        wandb.log(metrics)
