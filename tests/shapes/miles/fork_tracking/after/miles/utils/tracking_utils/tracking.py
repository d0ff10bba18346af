import logging

from miles import probe_tracking as probe
from miles.utils.tracking_utils.base import TrackingBackend, TrackingManager, WandbBackend

# Every backend is imported here, so the registry is here too.
BACKEND_REGISTRY: dict[str, tuple[type[TrackingBackend], str]] = {
    "wandb": (WandbBackend, "use_wandb"),
}

logger = logging.getLogger(__name__)
_manager = TrackingManager(BACKEND_REGISTRY)


def init_tracking(args, primary: bool = True, **kwargs):
    """Open the trackers whose flag is set."""
    probe.register(args, BACKEND_REGISTRY)
    _manager.init(args, primary=primary, **kwargs)


def define_step_key_metric_group(prefix: str, step_key: str) -> None:
    _manager.define_step_key_metric_group(prefix, step_key)


def log(args, metrics, step_key: str):
    _manager.log(metrics, step=metrics.get(step_key), step_key=step_key)


def finish_tracking():
    _manager.finish()
