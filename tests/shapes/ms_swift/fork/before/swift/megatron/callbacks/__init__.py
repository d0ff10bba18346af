from .wandb import WandbCallback

megatron_callbacks_map = {'wandb': WandbCallback}
