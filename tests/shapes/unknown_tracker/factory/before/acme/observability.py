import ray
import wandb


class Sink:
    def init(self, cfg):
        pass

    def log_batch(self, metrics, step):
        pass

    def finish(self):
        pass


class ConsoleSink(Sink):
    def log_batch(self, metrics, step):
        print(step, metrics)


class WandbSink(Sink):
    def init(self, cfg):
        self.run = wandb.init(project=cfg["project"], config=cfg)

    def log_batch(self, metrics, step):
        self.run.log(metrics, step=step)

    def finish(self):
        self.run.finish()


def get_sink_class(name):
    if name == "console":
        return ConsoleSink
    elif name == "wandb":
        return WandbSink
    raise ValueError(name)


@ray.remote
class MetricActor:
    def __init__(self, cfg):
        self.sinks = []
        for name, sub in cfg.items():
            sink = get_sink_class(name)()
            sink.init(sub)
            self.sinks.append(sink)

    def flush(self, metrics, step):
        for sink in self.sinks:
            sink.log_batch(metrics, step)

    def shutdown(self):
        for sink in self.sinks:
            sink.finish()
