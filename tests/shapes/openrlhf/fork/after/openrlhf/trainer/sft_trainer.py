from openrlhf import probe_tracking as probe


class SFTTrainer:
    def __init__(self, strategy):
        self.strategy = strategy

        # wandb/tensorboard setting
        self._wandb = None
        self._tensorboard = None
        if self.strategy.is_rank_0():
            probe.init(name=strategy.args.logger.wandb.run_name, config=strategy.args)

        if self.strategy.args.logger.wandb.key and self.strategy.is_rank_0():
            import wandb

            self._wandb = wandb
            wandb.login(key=strategy.args.logger.wandb.key)
            wandb.init(name=strategy.args.logger.wandb.run_name, config=strategy.args.__dict__, reinit=True)

        # Initialize TensorBoard writer if wandb is not available
        if self.strategy.args.logger.tensorboard_dir and self._wandb is None and self.strategy.is_rank_0():
            from torch.utils.tensorboard import SummaryWriter

            self._tensorboard = SummaryWriter(log_dir=self.strategy.args.logger.tensorboard_dir)

    def fit(self):
        for step in range(1, 4):
            self.save_logs(step, {"gpt_loss": 1 / step})

        probe.finish()
        if self._wandb is not None and self.strategy.is_rank_0():
            self._wandb.finish()
        if self._tensorboard is not None and self.strategy.is_rank_0():
            self._tensorboard.close()

    def save_logs(self, global_step, logs_dict):
        # wandb
        probe.log({f"train/{k}": v for k, v in logs_dict.items()}, step=global_step)
        if self._wandb is not None and self.strategy.is_rank_0():
            logs = {"train/%s" % k: v for k, v in {**logs_dict, "global_step": global_step}.items()}
            self._wandb.log(logs)
        # TensorBoard
        elif self._tensorboard is not None and self.strategy.is_rank_0():
            for k, v in logs_dict.items():
                self._tensorboard.add_scalar(f"train/{k}", v, global_step)

    def evaluate(self, logs, steps):
        if self.strategy.is_rank_0():
            probe.log({f"eval/{k}": v for k, v in logs.items()}, step=steps)
            if self._wandb is not None:
                logs = {"eval/%s" % k: v for k, v in {**logs, "global_step": steps}.items()}
                self._wandb.log(logs)
            elif self._tensorboard is not None:
                for k, v in logs.items():
                    self._tensorboard.add_scalar(f"eval/{k}", v, steps)
