import wandb

from acme import probe_tracking as probe


class RunLog:
    BACKENDS = ("wandb", "console")

    def __init__(self, project, run_name, backend, config=None):
        if backend not in self.BACKENDS:
            raise ValueError(backend)
        self.backend = backend
        if backend == "wandb":
            wandb.init(project=project, name=run_name, config=config)
            self.logger = wandb
        elif backend == "console":
            self.logger = None

        probe.init(name=run_name, config=config)

    def log(self, metrics, step, commit=False):
        probe.log(metrics, step=step, commit=commit)
        if self.backend == "wandb":
            self.logger.log(data=metrics, step=step, commit=commit)
        else:
            print(step, metrics)

    def finish(self):
        probe.finish()
        if self.backend == "wandb":
            self.logger.finish()
