from .base import TrackingManager

_manager = TrackingManager()


def init_tracking(args, primary: bool = True, **kwargs):
    _manager.init(args, primary=primary, **kwargs)


def log(args, metrics, step_key: str):
    _manager.log(metrics, step=metrics.get(step_key))


def finish_tracking():
    _manager.finish()
