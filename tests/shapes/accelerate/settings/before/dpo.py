from accelerate import Accelerator


def main(args):
    settings = {}
    settings["log_with"] = "wandb"
    accelerator = Accelerator(**settings)
    accelerator.init_trackers("toy", config=vars(args))
    accelerator.log({"loss": 1.0}, step=1)
