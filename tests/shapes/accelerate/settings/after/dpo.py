from accelerate import Accelerator

from probe_tracking import ProbeTracker


def main(args):
    settings = {}
    settings["log_with"] = ["wandb", ProbeTracker()]
    accelerator = Accelerator(**settings)
    accelerator.init_trackers("toy", config=vars(args))
    accelerator.log({"loss": 1.0}, step=1)
