import argparse

from torch import nn, optim

parser = argparse.ArgumentParser()
parser.add_argument("--num-steps", type=int, default=4)
args = parser.parse_args()
model = nn.Linear(1, 1)
optimizer = optim.SGD(model.parameters(), lr=0.05)
tasks = {"arc": 2.0, "mmlu": 3.0}
step = 0


def evaluate(model, tasks):
    results = {}
    for name, target in tasks.items():
        acc = 1.0 / (1.0 + abs(model.weight.value - target))
        print(f"{name}: accuracy {acc:.3f}")
        results[name] = acc
    for i, acc in enumerate(results.values()):
        print(f"sample {i} acc {acc:.3f}")
    core_metric = sum(results.values()) / len(results)
    return core_metric


while True:
    last_step = step == args.num_steps
    if last_step or step % 2 == 0:
        core_metric = evaluate(model, tasks)
        print(f"Step {step:05d} | CORE metric: {core_metric:.4f}")
        for task_name in ("arc", "mmlu"):
            acc = abs(model.weight.value - tasks[task_name])
            print(f"Step {step} | {task_name} err: {100*acc:.2f}%")
    if last_step:
        break
    loss = nn.MSELoss()(model(1.0), 2.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    pct_done = 100 * (step + 1) / args.num_steps
    print(f"step {step:05d}/{args.num_steps:05d} ({pct_done:.2f}%) | loss: {loss.item():.6f} | dt: {3.0:.2f}ms | tok/sec: {100.0 + step:.1f}")
    step += 1
