import wandb

wandb.init(project="toy")

class Logger:
    def log_metrics(self, metrics, step, prefix=""):
        if prefix:
            metrics = {f"{prefix}/{k}": v for k, v in metrics.items()}
        wandb.log(metrics, step=step)


def train(logger, step):
    logger.log_metrics({"loss": 1.0, "acc": 0.5}, step, prefix="train")
    logger.log_metrics({"time/total": 1.0}, step, prefix="")
