"""A registry of trackers in the form that Miles has, in a module of its own: every process imports its own copy."""

import wandb


class WandbBackend:
    def init(self, args, *, primary=True, **kwargs):
        wandb.init(project="toy", name=args.run_name)
        wandb.define_metric("train/step")
        wandb.define_metric("train/*", step_metric="train/step")

    def log(self, metrics, step=None, step_key=None):
        wandb.log(metrics)

    def finish(self):
        wandb.finish()


BACKENDS = {"wandb": WandbBackend}


def register():
    from probe.integrations.miles import ProbeBackend

    BACKENDS["probe"] = ProbeBackend


class Tracking:
    def __init__(self, args):
        self.backends = [made() for made in BACKENDS.values()]
        for backend in self.backends:
            backend.init(args, primary=True)

    def log(self, metrics, step_key):
        for backend in self.backends:
            backend.log(metrics, step=metrics[step_key], step_key=step_key)

    def finish(self):
        for backend in self.backends:
            backend.finish()
