import functools
import sys

import wandb


def clean_exit(func):
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        try:
            result = func(*args, **kwargs)
            wandb.finish()
            return result
        except Exception:
            wandb.finish(exit_code=1)
            sys.exit(1)

    return wrapper
