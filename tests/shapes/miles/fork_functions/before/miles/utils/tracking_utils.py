"""Where every process sends its metrics."""

import logging

from miles.utils import wandb_utils

logger = logging.getLogger(__name__)


def init_tracking(args, primary: bool = True, **kwargs):
    wandb_utils.open_run(args, primary)
    if args.use_wandb:
        logger.info("tracking is on")


def log(args, metrics, step_key: str):
    if args.use_wandb:
        import wandb

        wandb.log(metrics)
