"""The trackers, and the class that fans out to them."""

from abc import ABC, abstractmethod


class TrackingBackend(ABC):
    @abstractmethod
    def init(self, args, *, primary=True, **kwargs): ...

    @abstractmethod
    def log(self, metrics, step=None, **kwargs): ...

    @abstractmethod
    def finish(self): ...

    def define_step_key_metric_group(self, prefix, step_key):
        return


class WandbBackend(TrackingBackend):
    def init(self, args, *, primary=True, **kwargs):
        import wandb

        wandb.init(project="toy", config=vars(args))

    def log(self, metrics, step=None, **kwargs):
        import wandb

        wandb.log(metrics)

    def finish(self):
        import wandb

        wandb.finish()


class TrackingManager:
    def __init__(self, registry):
        self.registry = registry
        self.backends = []

    def init(self, args, *, primary=True, **kwargs):
        for cls, flag in self.registry.values():
            if getattr(args, flag, False):
                backend = cls()
                backend.init(args, primary=primary, **kwargs)
                self.backends.append(backend)

    def log(self, metrics, step=None, step_key=None):
        for backend in self.backends:
            backend.log(metrics, step=step, step_key=step_key)

    def define_step_key_metric_group(self, prefix, step_key):
        for backend in self.backends:
            backend.define_step_key_metric_group(prefix, step_key)

    def finish(self):
        for backend in self.backends:
            backend.finish()
        self.backends.clear()
