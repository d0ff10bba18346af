from abc import ABC, abstractmethod

from nemo_rl import probe_tracking as probe


class LoggerInterface(ABC):
    @abstractmethod
    def log_metrics(self, metrics, step, prefix="", step_metric=None):
        """Log a dictionary of metrics."""

    @abstractmethod
    def log_hyperparams(self, params):
        """Log dictionary of hyperparameters."""


class WandbLogger(LoggerInterface):
    def __init__(self, cfg):
        import wandb

        self.run = wandb.init(**cfg)

    def log_metrics(self, metrics, step, prefix="", step_metric=None):
        self.run.log({f"{prefix}/{k}": v for k, v in metrics.items()}, step=step)

    def log_hyperparams(self, params):
        self.run.config.update(params)

    def finish(self):
        self.run.finish()


class FileLogger(LoggerInterface):
    def log_metrics(self, metrics, step, prefix="", step_metric=None):
        print(step, prefix, metrics)

    def log_hyperparams(self, params):
        print(params)


class Logger(LoggerInterface):
    """Main logger class that delegates to multiple backend loggers."""

    def __init__(self, cfg):
        self.loggers = []
        self.wandb_logger = None

        if cfg["wandb_enabled"]:
            self.wandb_logger = WandbLogger(cfg["wandb"])
            self.loggers.append(self.wandb_logger)

        if cfg["file_enabled"]:
            self.loggers.append(FileLogger())

        if not self.loggers:
            print("No loggers initialized")

    def log_metrics(self, metrics, step, prefix="", step_metric=None, step_finished=False):
        """Log metrics to all enabled backends."""
        probe.log({f"{prefix}/{k}" if prefix else k: v for k, v in metrics.items() if k != step_metric}, step=step)
        for logger in self.loggers:
            logger.log_metrics(metrics, step, prefix, step_metric)

    def log_hyperparams(self, params):
        """Log hyperparameters to all enabled backends."""
        probe.init(config=params)
        for logger in self.loggers:
            logger.log_hyperparams(params)

    def finish(self):
        """Close backends that need it."""
        probe.finish()
        for logger in self.loggers:
            finish = getattr(logger, "finish", None)
            if callable(finish):
                finish()

    def log_plot(self, figure, step, name):
        for logger in self.loggers:
            logger.log_plot(figure, step, name)
