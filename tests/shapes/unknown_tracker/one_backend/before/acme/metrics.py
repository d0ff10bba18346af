import wandb


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

    def log(self, metrics, step, commit=False):
        if self.backend == "wandb":
            self.logger.log(data=metrics, step=step, commit=commit)
        else:
            print(step, metrics)

    def finish(self):
        if self.backend == "wandb":
            self.logger.finish()
