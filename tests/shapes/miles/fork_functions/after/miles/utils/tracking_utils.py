"""Where every process sends its metrics."""

import logging

from miles.probe_tracking import ProbeBackend
from miles.utils import wandb_utils

logger = logging.getLogger(__name__)
_probe = ProbeBackend()


def init_tracking(args, primary: bool = True, **kwargs):
    wandb_utils.open_run(args, primary)
    if args.use_wandb:
        logger.info("tracking is on")

    _probe.init(args, primary=primary, **kwargs)


def log(args, metrics, step_key: str):
    _probe.log(metrics, step=metrics.get(step_key), step_key=step_key)
    if args.use_wandb:
        import wandb

        wandb.log(metrics)
