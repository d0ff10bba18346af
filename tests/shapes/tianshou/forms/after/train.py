import os

import gymnasium as gym
from torch.utils.tensorboard import SummaryWriter

from tianshou.trainer import OffpolicyTrainer
from tianshou.utils import BaseLogger, LazyLogger, TensorboardLogger, WandbLogger

import probe_tracking as probe
from probe_tracking import record_tianshou


class CSVLogger(BaseLogger):
    def write(self, step_type, step, data):
        print(step_type, step, data)


def get_args():
    ...


def train(args, policy, train_collector, test_collector):
    log_path = os.path.join(args.logdir, args.task, "dqn")
    if args.logger == "wandb":
        logger = WandbLogger(save_interval=1, project=args.wandb_project, config=args)
        record_tianshou(logger)
    writer = SummaryWriter(log_path)
    probe.init(config=args)
    if args.logger == "tensorboard":
        logger = TensorboardLogger(writer)
        record_tianshou(logger)
    else:
        logger.load(writer)
    return OffpolicyTrainer(policy=policy, train_collector=train_collector, logger=logger).run()


def sweep(args, policy, collector):
    for seed in range(3):
        logger = CSVLogger()
        record_tianshou(logger)
        OffpolicyTrainer(policy, collector, logger=logger).run()
    quiet = record_tianshou(TensorboardLogger((SummaryWriter("q"), probe.init(config=args))[0])) if args.keep else LazyLogger()
    return quiet
