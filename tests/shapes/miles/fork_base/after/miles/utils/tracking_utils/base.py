"""The trackers, and the class that fans out to them."""

from abc import ABC, abstractmethod

from miles import probe_tracking as probe


class TrackingBackend(ABC):
    @abstractmethod
    def init(self, args, *, primary=True, **kwargs): ...

    @abstractmethod
    def log(self, metrics, step=None): ...

    @abstractmethod
    def finish(self): ...


class WandbBackend(TrackingBackend):
    def init(self, args, *, primary=True, **kwargs):
        import wandb

        wandb.init(project="toy", config=vars(args))

    def log(self, metrics, step=None):
        import wandb

        wandb.log(metrics)

    def finish(self):
        import wandb

        wandb.finish()


BACKEND_REGISTRY: dict[str, tuple[type[TrackingBackend], str]] = {
    "wandb": (WandbBackend, "use_wandb"),
}


class TrackingManager:
    def __init__(self):
        self.backends = []

    def init(self, args, *, primary=True, **kwargs):
        probe.register(args, BACKEND_REGISTRY)
        for cls, flag in BACKEND_REGISTRY.values():
            if getattr(args, flag, False):
                backend = cls()
                backend.init(args, primary=primary, **kwargs)
                self.backends.append(backend)

    def log(self, metrics, step=None):
        for backend in self.backends:
            backend.log(metrics, step=step)

    def finish(self):
        for backend in self.backends:
            backend.finish()
        self.backends.clear()
