from accelerate import Accelerator


def main(args):
    accelerator = Accelerator(log_with=args.report_to)
    accelerator.init_trackers("toy", config=vars(args))
    accelerator.log({"loss": 1.0}, step=1)
    accelerator.end_training()
