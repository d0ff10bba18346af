import argparse

from mmengine.config import Config
from mmengine.registry import RUNNERS
from mmengine.runner import Runner


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config")
    cfg = Config.fromfile(parser.parse_args().config)
    # build the runner from config
    if 'runner_type' not in cfg:
        # build the default runner
        runner = Runner.from_cfg(cfg)
    else:
        runner = RUNNERS.build(cfg)

    # start training
    runner.train()


def by_hand(model, data):
    Runner(model=model, work_dir="work", train_dataloader=data, train_cfg=dict(max_epochs=2)).train()


if __name__ == '__main__':
    main()
