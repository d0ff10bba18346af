import wandb


class Metrics:
    supported_sinks = ["wandb", "console", "tensorboard"]

    def __init__(self, project, run_name, sinks, cfg=None):
        for sink in sinks:
            assert sink in self.supported_sinks, f"{sink} is not supported"
        self.sinks = {}
        if "wandb" in sinks:
            wandb.init(project=project, name=run_name, config=cfg)
            self.sinks["wandb"] = wandb
        if "console" in sinks:
            self.sinks["console"] = Console()

    def record(self, values, global_step):
        for sink in self.sinks.values():
            sink.log(data=values, step=global_step)

    def close(self):
        if "wandb" in self.sinks:
            wandb.finish()


class Console:
    def log(self, data, step):
        print(step, data)
