import os

import gymnasium as gym
from torch.utils.tensorboard import SummaryWriter

from tianshou.trainer import OffpolicyTrainer
from tianshou.utils import BaseLogger, LazyLogger, TensorboardLogger, WandbLogger


class CSVLogger(BaseLogger):
    def write(self, step_type, step, data):
        print(step_type, step, data)


def get_args():
    ...


def train(args, policy, train_collector, test_collector):
    log_path = os.path.join(args.logdir, args.task, "dqn")
    if args.logger == "wandb":
        logger = WandbLogger(save_interval=1, project=args.wandb_project, config=args)
    writer = SummaryWriter(log_path)
    if args.logger == "tensorboard":
        logger = TensorboardLogger(writer)
    else:
        logger.load(writer)
    return OffpolicyTrainer(policy=policy, train_collector=train_collector, logger=logger).run()


def sweep(args, policy, collector):
    for seed in range(3):
        OffpolicyTrainer(policy, collector, logger=CSVLogger()).run()
    quiet = TensorboardLogger(SummaryWriter("q")) if args.keep else LazyLogger()
    return quiet
