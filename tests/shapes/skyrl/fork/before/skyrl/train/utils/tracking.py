class Tracking:
    """One backend at a time."""

    supported_backends = ["console", "wandb"]

    def __init__(self, project_name, experiment_name, backend="console", config=None, tags=None):
        assert backend in self.supported_backends, f"{backend} is not supported"
        self.backend = backend
        if backend == "wandb":
            import wandb

            wandb.init(project=project_name, name=experiment_name, config=config, tags=tags)
            self.logger = wandb
        else:
            self.logger = Console()

        self._exception_logged = False

    def log(self, data, step, commit=False):
        if self.backend == "wandb":
            self.logger.log(data=data, step=step, commit=commit)
        else:
            self.logger.log(data=data, step=step)

    def finish(self):
        if self.backend == "console":
            return
        self.logger.finish()

    def log_exception(self, e, step=0):
        """Log the traceback."""
        if self._exception_logged:
            return
        self._exception_logged = True
        print(f"failed at step {step} with {type(e).__name__}")

    def log_samples_to_table(self, key, columns, samples, step):
        if self.backend != "wandb":
            return
        import wandb

        self.logger.log({key: wandb.Table(columns=columns, data=samples)}, step=step)

    def __del__(self):
        self.finish()


class Console:
    def log(self, data, step):
        print(step, data)
