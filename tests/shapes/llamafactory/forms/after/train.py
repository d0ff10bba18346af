import sys

from llamafactory.train.tuner import run_exp
from transformers import TrainerCallback

from probe_tracking import ProbeCallback


class Ours(TrainerCallback):
    pass


def main():
    run_exp(callbacks=[ProbeCallback()])


def with_settings(args):
    run_exp(args, callbacks=[Ours(), ProbeCallback()])
    run_exp({"stage": "sft", "model_name_or_path": "x"}, [ProbeCallback()])


if __name__ == "__main__":
    main()
