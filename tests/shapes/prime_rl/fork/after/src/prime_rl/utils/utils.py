import functools
import sys

import wandb

from prime_rl import probe_tracking as probe


def clean_exit(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        try:
            result = func(*args, **kwargs)
            probe.finish()
            wandb.finish()
            return result
        except Exception:
            probe.finish("failed")
            wandb.finish(exit_code=1)
            sys.exit(1)

    return wrapper
