import wandb


def setup_wandb(config=None, api_key=None, api_key_file=None, rank_zero_only=True, **kwargs):
    return wandb.init(config=config, **kwargs)
