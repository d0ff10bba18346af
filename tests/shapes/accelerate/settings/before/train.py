from accelerate import Accelerator


def main(args):
    settings = {}
    if args.with_tracking:
        settings["log_with"] = args.report_to
        settings["project_dir"] = args.output_dir
    accelerator = Accelerator(gradient_accumulation_steps=2, **settings)
    if args.with_tracking:
        accelerator.init_trackers("toy", config=vars(args))
    accelerator.log({"loss": 1.0}, step=1)
    accelerator.end_training()
