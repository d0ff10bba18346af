import launchpad as lp


class LearnerBase:
    def _init(self, args, strategy, exp_name):
        self.args = args
        self.steps = 0

        # logger
        self._wandb = None
        if strategy.args.use_wb and strategy.is_rank_0():
            import wandb

            self._wandb = wandb
            if not wandb.api.api_key:
                wandb.login(key=strategy.args.use_wb)
            wandb.init(entity=args.wb_org, project=args.wb_project, name=exp_name, config=args.__dict__, reinit=True)

        self.strategy = strategy

    def run(self):
        for _ in range(3):
            self.steps += 1
            self.eval_and_log({"train/loss": 1 / self.steps}, {})

        if self.strategy.is_rank_0():
            self._wandb.finish() if self._wandb else None
            lp.stop()

    def eval_and_log(self, train_info, eval_info):
        if eval_info or self.steps % self.args.logging_steps == 0:
            logs_dict = {**train_info, **eval_info}
            logs_dict = self.strategy.all_reduce(logs_dict)

            if self.strategy.is_rank_0():
                self.strategy.pprint(logs_dict)
                if self._wandb is not None:
                    self._wandb.log(logs_dict)
