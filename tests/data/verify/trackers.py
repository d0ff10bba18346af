"""The same metrics through one of the other trackers and Probe; `sys.argv[1]` says which."""

import math
import sys

import probe

ROWS = [{"loss": 1 / (n + 1), "nested/acc": n / 8, "odd": math.nan if n == 2 else math.inf} for n in range(5)]


def trackio():
    import trackio

    trackio.init(project="toy", name="one")
    return lambda row, step: trackio.log(row, step=step), trackio.finish


def swanlab():
    import swanlab

    swanlab.init(project="toy", experiment_name="one")
    return lambda row, step: swanlab.log(row, step=step), swanlab.finish


def mlflow():
    import mlflow

    mlflow.set_experiment("toy")
    mlflow.start_run(run_name="one")
    return lambda row, step: mlflow.log_metrics(row, step=step), mlflow.end_run


def tensorboard():
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(sys.argv[2])
    return lambda row, step: [writer.add_scalar(key, value, step) for key, value in row.items()], writer.close


log, close = globals()[sys.argv[1]]()
probe.init(name="one")
for number, row in enumerate(ROWS):
    log(row, number * 3)
    probe.log(row, step=number * 3)
probe.finish()
close()
