import asyncio
import sys
from types import SimpleNamespace

from prime_rl import monitors
from prime_rl.utils.utils import clean_exit


@clean_exit
def train():
    asyncio.run(run())


async def run():
    await monitors.setup(run_config=SimpleNamespace(lr=0.1))
    for step in range(3):
        await monitors.log({"loss": 1.0 - step, "step": step}, step=step)
        await monitors.log(["an episode"], step=step)
    if "crash" in sys.argv:
        raise ValueError("diverged")
    await monitors.finalize()


if __name__ == "__main__":
    train()
