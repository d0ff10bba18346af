import sys
from types import SimpleNamespace as Space

from openrlhf.trainer.ppo_trainer import BasePPOTrainer

wandb = Space(key="", project="toy", run_name="first")
args = Space(lr=0.1, logger=Space(wandb=wandb, tensorboard_dir=None, logging_steps=1))
BasePPOTrainer(args).fit("crash" in sys.argv)
