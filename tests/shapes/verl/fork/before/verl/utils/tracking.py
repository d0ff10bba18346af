class Tracking:
    """Sends rows to the backends that are asked for."""

    supported_backend = ["console", "wandb"]

    def __init__(self, project_name, experiment_name, default_backend="console", config=None):
        if isinstance(default_backend, str):
            default_backend = [default_backend]
        for backend in default_backend:
            assert backend in self.supported_backend, f"{backend} is not supported"
        self.logger = {}
        if "wandb" in default_backend:
            import wandb

            wandb.init(project=project_name, name=experiment_name, config=config)
            self.logger["wandb"] = wandb
        if "console" in default_backend:
            self.logger["console"] = Console()

    def log(self, data, step, backend=None):
        for name, logger in self.logger.items():
            if backend is None or name in backend:
                logger.log(data=data, step=step)

    def finish(self, exit_code: int = 0):
        if "wandb" in self.logger:
            self.logger["wandb"].finish(exit_code=exit_code)


class Console:
    def log(self, data, step):
        print(step, data)
