import wandb


class Logger:
    def __init__(self):
        self.step = 0

    def log(self, row):
        wandb.log(row, step=self.step)
        self.step += 1


def main(args):
    logger = Logger()
    if args.resume:
        logger.step = load_checkpoint(args.resume)["step"]
    logger.log({"loss": 1.0})
