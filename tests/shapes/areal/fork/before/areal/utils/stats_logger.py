from dataclasses import asdict

import swanlab
import wandb


class StatsLogger:
    def __init__(self, config, rank=0):
        self.exp_config = config
        self.config = config.stats_logger
        self.rank = rank
        self.init()

        self._last_commit_step = -1

    def init(self):
        if self.rank != 0:
            return

        if self.config.wandb_mode != "disabled":
            wandb.login()

        exp_config_dict = asdict(self.exp_config)

        wandb.init(
            mode=self.config.wandb_mode,
            name=self.config.trial_name,
            config=exp_config_dict,  # save all experiment config to wandb
            force=True,
        )

        swanlab.init(experiment_name=self.config.trial_name + "_train", config=exp_config_dict)

    def state_dict(self):
        return {"last_commit_step": self._last_commit_step}

    def close(self):
        if self.rank != 0:
            return
        wandb.finish()
        swanlab.finish()

    def commit(self, epoch, step, global_step, data):
        if self.rank != 0:
            return
        if isinstance(data, dict):
            data = [data]
        log_step = max(global_step, self._last_commit_step + 1)
        for i, item in enumerate(data):
            # Filter out counter keys for scalar variables
            item = {k: v for k, v in item.items() if not k.endswith("__count")}
            wandb.log(item, step=log_step + i)
            swanlab.log(item, step=log_step + i)
        self._last_commit_step = log_step + len(data) - 1
