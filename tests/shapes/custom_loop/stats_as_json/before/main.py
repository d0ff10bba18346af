import argparse
import json
import math
import random
import time
from pathlib import Path


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", default=3, type=int)
    p.add_argument("--lr", default=1e-3, type=float)
    p.add_argument("--output_dir", default="out")
    p.add_argument("--rank", default=0, type=int)
    return p.parse_args()


class MetricLogger:
    def __init__(self):
        self.meters = {}

    def update(self, **kwargs):
        for k, v in kwargs.items():
            self.meters.setdefault(k, []).append(v)

    def averages(self):
        return {k: sum(v) / len(v) for k, v in self.meters.items()}


def train_one_epoch(model, epoch, args):
    logger = MetricLogger()
    for step in range(4):
        loss = model["w"] ** 2
        if not math.isfinite(loss):
            raise SystemExit(1)
        model["w"] *= 0.9
        logger.update(loss=loss, lr=args.lr)
    stats = logger.averages()
    print("Averaged stats:", stats)
    return stats


def evaluate(model):
    return {"acc1": 100 - model["w"], "loss": model["w"]}


def main(args):
    random.seed(0)
    model = {"w": 1.0}
    max_accuracy = 0.0
    start = time.time()
    for epoch in range(args.epochs):
        train_stats = train_one_epoch(model, epoch, args)
        test_stats = evaluate(model)
        print(f"Accuracy of the network: {test_stats['acc1']:.1f}%")
        max_accuracy = max(max_accuracy, test_stats["acc1"])
        log_stats = {**{f"train_{k}": v for k, v in train_stats.items()},
                     **{f"test_{k}": v for k, v in test_stats.items()},
                     "epoch": epoch, "n_parameters": 1}
        if args.output_dir and args.rank == 0:
            with (Path(args.output_dir) / "log.txt").open("a") as f:
                f.write(json.dumps(log_stats) + "\n")


if __name__ == "__main__":
    args = get_args()
    Path(args.output_dir).mkdir(parents=True, exist_ok=True)
    main(args)
