from swift.utils import is_last_rank
from .utils import rewrite_logs


class WandbCallback:

    def __init__(self, trainer):
        self.trainer = trainer
        self.state = trainer.state
        import wandb
        if is_last_rank():
            wandb.init(name=trainer.args.wandb_exp_name, config=vars(trainer.args))
            self.writer = wandb

    def on_log(self, logs):
        logs = rewrite_logs(logs)
        if is_last_rank():
            self.writer.log(logs, step=self.state.iteration)

    def on_train_end(self):
        pass
