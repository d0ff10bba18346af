import argparse

from slime.utils import logging_utils


def main():
    args = argparse.Namespace(use_wandb=True)
    logging_utils.init_tracking(args)
    for i in range(3):
        reward = 0.1 * i
        logging_utils.log(args, {"rollout/reward": reward, "rollout/step": i}, "rollout/step")
    logging_utils.log(args, evaluate(), step_key="eval/step")
    logging_utils.finish_tracking(args)


def evaluate():
    return {"eval/acc": 0.5, "eval/step": 2}


main()
