class Metric:
    def __init__(self, key, value):
        self.key, self.value = key, value


class WandbBackend:
    def __init__(self, **kwargs):
        self.backend_kwargs = kwargs

    async def init(self):
        import wandb

        self.run = wandb.init(**self.backend_kwargs)

    async def log_batch(self, metrics, global_step):
        self.run.log({metric.key: metric.value for metric in metrics}, step=global_step)

    async def finish(self):
        self.run.finish()


def get_logger_backend_class(name):
    if name == "wandb":
        return WandbBackend
    raise ValueError(f"Unknown logger backend type: {name}")


def reduce_metrics_states(states):
    return [Metric(key, value) for state in states for key, value in state.items()]
