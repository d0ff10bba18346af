from openrlhf import probe_tracking as probe
from openrlhf.utils.logging_utils import TensorboardLogger, WandbLogger


class BasePPOTrainer:
    def __init__(self, args):
        self.args = args

        # Tracking backends
        self.wandb_logger = WandbLogger(self.args) if self.args.logger.wandb.key else None
        self.tensorboard_logger = TensorboardLogger(self.args) if self.args.logger.tensorboard_dir else None
        probe.init(name=self.args.logger.wandb.run_name, config=self.args)

        self.best = float("-inf")

    def save_logs(self, global_step, logs_dict):
        if global_step % self.args.logger.logging_steps == 0:
            probe.log({f"train/{k}": v for k, v in logs_dict.items()}, step=global_step)
            if self.wandb_logger:
                self.wandb_logger.log_train(global_step, logs_dict)
            if self.tensorboard_logger:
                self.tensorboard_logger.log_train(global_step, logs_dict)

    def evaluate(self, global_step, logs):
        probe.log({f"eval/{k}": v for k, v in logs.items()}, step=global_step)
        if self.wandb_logger:
            self.wandb_logger.log_eval(global_step, logs)
        if self.tensorboard_logger:
            self.tensorboard_logger.log_eval(global_step, logs)

    def fit(self, crash=False):
        for step in range(1, 4):
            self.save_logs(step, {"loss": 1 / step, "generated_samples": ["text", 0.5], "kl": None})
        self.evaluate(3, {"accuracy": 0.5})
        if crash:
            raise ValueError("diverged")

        probe.finish()
        if self.wandb_logger:
            self.wandb_logger.close()
        if self.tensorboard_logger:
            self.tensorboard_logger.close()
