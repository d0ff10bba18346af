import wandb


class Logger:
    def __init__(self):
        self.step = 0

    def log(self, row):
        wandb.log(row, step=self.step)
        self.step += 1

    def state_dict(self):
        return {"step": self.step}

    def load_state_dict(self, state):
        self.step = state["step"]


def main(args):
    if args.resume:
        load_checkpoint(args.resume)
