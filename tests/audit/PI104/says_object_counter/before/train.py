import wandb


class Logger:
    def __init__(self):
        self.step = 0

    def log(self, row):
        wandb.log(row, step=self.step)
        self.step += 1  # -> PI104


def main(args):
    if args.resume:
        load_checkpoint(args.resume)
    Logger().log({"loss": 1.0})
