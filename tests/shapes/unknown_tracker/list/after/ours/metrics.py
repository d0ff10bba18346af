from ours import probe_tracking as probe


class Reporter:
    supported_backends = ["print"]

    def __init__(self, experiment_name, backend, config=None):
        assert backend in self.supported_backends
        self.backend = backend
        probe.init(name=experiment_name, config=config)

    def log(self, data, step):
        probe.log(data, step=step)
        print(step, data)
