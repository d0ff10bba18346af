"""Train a small network on two interleaved spirals. Plain Python, so that it runs anywhere in a few seconds."""

import argparse
import math
import random

import wandb

from model import Network


def spirals(count, seed):
    """Points (x, y) of two spirals with the spiral's number."""
    rng = random.Random(seed)
    points = []
    for i in range(count):
        arm, t = i % 2, rng.random()
        angle = 3.0 * math.pi * t + math.pi * arm
        x = t * math.cos(angle) + rng.gauss(0, 0.02)
        y = t * math.sin(angle) + rng.gauss(0, 0.02)
        points.append((x, y, float(arm)))
    return points


def evaluate(network, points, step):
    loss = sum(network.loss(x, y, arm) for x, y, arm in points) / len(points)
    right = sum((network.forward(x, y) > 0.5) == (arm > 0.5) for x, y, arm in points)
    accuracy = right / len(points)
    wandb.log({"eval/loss": loss, "eval/accuracy": accuracy}, step=step)
    print(f"step {step:4d}  eval loss {loss:.4f}  accuracy {accuracy:.3f}")
    return accuracy


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1200)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=3.0)
    parser.add_argument("--hidden", type=int, default=32)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--eval-every", type=int, default=100)
    args = parser.parse_args()

    run = wandb.init(project="spirals", config=vars(args))
    train, held_out = spirals(400, args.seed), spirals(200, args.seed + 1)
    network = Network(args.hidden, args.seed)
    rng = random.Random(args.seed)

    best = 0.0
    for step in range(1, args.steps + 1):
        lr = args.lr * 0.5 * (1.0 + math.cos(math.pi * step / args.steps))
        loss, norm = network.update(rng.sample(train, args.batch), lr)
        if step % 10 == 0:
            run.log({"train/loss": loss, "train/grad_norm": norm, "train/lr": lr}, step=step)
        if step % args.eval_every == 0:
            best = max(best, evaluate(network, held_out, step))

    run.summary["best_accuracy"] = best
    run.finish()
    print(f"best accuracy {best:.3f}")


if __name__ == "__main__":
    main()
