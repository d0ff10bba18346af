import wandb

GLOBAL_STEP = 0


def log(loss):
    global GLOBAL_STEP
    wandb.log({"train/loss": loss, "train/step": GLOBAL_STEP})
    GLOBAL_STEP += 1  # -> PI104


def main(args):
    model.load(args.resume_from_checkpoint)
