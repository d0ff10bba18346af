from forge import probe_tracking as probe
from forge.observability.metrics import Metric, get_logger_backend_class, reduce_metrics_states
from monarch.actor import Actor, endpoint


class GlobalLoggingActor(Actor):
    """Coordinates metric logging across all ranks."""

    def __init__(self):
        self.fetchers = {}
        self.global_logger_backends = {}

    @endpoint
    async def init_backends(self, config):
        """Initialize the backends of a config."""
        probe.init(config=config)
        for name, settings in config.items():
            backend = get_logger_backend_class(name)(**settings)
            await backend.init()
            self.global_logger_backends[name] = backend

    @endpoint
    async def flush(self, global_step):
        states = [await fetcher.flush.call(global_step) for fetcher in self.fetchers.values()]
        if states:
            reduced_metrics: list[Metric] = reduce_metrics_states(states)

            # Log to global backends
            probe.log({metric.key: metric.value for metric in reduced_metrics}, step=global_step)
            for name, backend in self.global_logger_backends.items():
                await backend.log_batch(reduced_metrics, global_step)

    @endpoint
    async def shutdown(self):
        probe.finish()
        for backend in self.global_logger_backends.values():
            await backend.finish()
