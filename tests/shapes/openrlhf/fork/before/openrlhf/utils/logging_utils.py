class WandbLogger:
    def __init__(self, args):
        import wandb

        wandb.init(project=args.logger.wandb.project, name=args.logger.wandb.run_name, config=args.__dict__)
        wandb.define_metric("train/global_step")
        wandb.define_metric("train/*", step_metric="train/global_step", step_sync=True)
        self.handle = wandb

    def log_train(self, global_step, logs_dict):
        logs = {"train/%s" % k: v for k, v in {**logs_dict, "global_step": global_step}.items()}
        self.handle.log(logs)

    def log_eval(self, global_step, logs_dict):
        logs = {"eval/%s" % k: v for k, v in {**logs_dict, "global_step": global_step}.items()}
        self.handle.log(logs)

    def close(self):
        self.handle.finish()


class TensorboardLogger:
    def __init__(self, args):
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(log_dir=args.logger.tensorboard_dir)

    def log_train(self, global_step, logs_dict):
        for k, v in logs_dict.items():
            self.writer.add_scalar(f"train/{k}", v, global_step)

    def log_eval(self, global_step, logs_dict):
        for k, v in logs_dict.items():
            self.writer.add_scalar(f"eval/{k}", v, global_step)

    def close(self):
        self.writer.close()
