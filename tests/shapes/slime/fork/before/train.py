from slime.utils import logging_utils
from slime.utils.logging_utils import finish_tracking, init_tracking


def train(args):
    init_tracking(args)
    for i in range(3):
        logging_utils.log(args, {"train/loss": 1.0 - i, "train/step": i}, step_key="train/step")
    finish_tracking(args)
