from functools import wraps

from roll import probe_tracking as probe

tracker_registry = {}


def _strip_metric_tag(values):
    """ "actor/loss@mean" becomes "actor/loss"."""
    return {k.rsplit("@", 1)[0]: v for k, v in values.items()}


def strip_at_tag_in_log(func):
    @wraps(func)
    def wrapper(self, values, step=None, **kwargs):
        return func(self, _strip_metric_tag(values), step, **kwargs)

    return wrapper


class BaseTracker:
    def log(self, values, step, **kwargs):
        pass

    def finish(self):
        pass


class WandbTracker(BaseTracker):
    def __init__(self, config, **kwargs):
        import wandb

        if kwargs.get("api_key"):
            wandb.login(key=kwargs["api_key"])
        self.run = wandb.init(project=kwargs.pop("project", None), name=kwargs.pop("name", None))
        self.run.config.update(config, allow_val_change=True)

    @strip_at_tag_in_log
    def log(self, values, step, **kwargs):
        self.run.log(values, step=step, **kwargs)

    def finish(self):
        self.run.finish()


class StdoutTracker(BaseTracker):
    def __init__(self, config, **kwargs):
        self.config = config

    @strip_at_tag_in_log
    def log(self, values, step, **kwargs):
        print(step, values)


def create_tracker(tracker_name, config, **kwargs):
    probe.init(name=config.get("exp_name"), config=config)
    if not tracker_name:
        return probe.tee(BaseTracker(), _strip_metric_tag)

    if tracker_name not in tracker_registry:
        raise ValueError(f"Unknown tracker name: {tracker_name}")
    tracker_cls = tracker_registry[tracker_name]
    return probe.tee(tracker_cls(config, **kwargs), _strip_metric_tag)


tracker_registry["wandb"] = WandbTracker
tracker_registry["stdout"] = StdoutTracker
