import os

from prime_rl.monitors.base import Monitor
from prime_rl.monitors.wandb import WandbMonitor

MONITORS: list[Monitor] = []


async def setup(wandb=None, *, output_dir=None, run_config=None):
    """Construct and register one monitor per config, on rank 0."""
    rank = int(os.environ.get("RANK", "0"))
    if rank != 0:
        return

    monitors = []
    if wandb is not None:
        monitors.append(WandbMonitor(wandb))

    for monitor in monitors:
        await monitor.init(config=run_config)
        MONITORS.append(monitor)


async def log(data, step, kind="train", subset="effective"):
    """Log to all registered monitors: metrics, or episodes."""
    for monitor in MONITORS:
        await monitor.log(data, step=step, kind=kind, subset=subset)


async def finalize():
    """Finalize the run on all registered monitors."""
    for monitor in MONITORS:
        await monitor.finalize()
