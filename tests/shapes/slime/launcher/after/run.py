import argparse

from slime.utils import logging_utils

import probe_tracking as probe


def main():
    args = argparse.Namespace(use_wandb=True)
    logging_utils.init_tracking(args)
    probe.init(config=args)
    for i in range(3):
        reward = 0.1 * i
        logging_utils.log(args, {"rollout/reward": reward, "rollout/step": i}, "rollout/step")
        probe.log({"rollout/reward": reward}, step=i)
    metrics = evaluate()
    logging_utils.log(args, metrics, step_key="eval/step")
    probe.log({k: v for k, v in metrics.items() if k != "eval/step"}, step=metrics.get("eval/step"))
    logging_utils.finish_tracking(args)
    probe.finish()


def evaluate():
    return {"eval/acc": 0.5, "eval/step": 2}


main()
