class Reporter:
    supported_backends = ["print"]

    def __init__(self, experiment_name, backend, config=None):
        assert backend in self.supported_backends
        self.backend = backend

    def log(self, data, step):
        print(step, data)
