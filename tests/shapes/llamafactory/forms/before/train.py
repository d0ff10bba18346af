import sys

from llamafactory.train.tuner import run_exp
from transformers import TrainerCallback


class Ours(TrainerCallback):
    pass


def main():
    run_exp()


def with_settings(args):
    run_exp(args, callbacks=[Ours()])
    run_exp({"stage": "sft", "model_name_or_path": "x"}, None)


if __name__ == "__main__":
    main()
