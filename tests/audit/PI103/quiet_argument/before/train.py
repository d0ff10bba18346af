import wandb


def train(args, rollout_id, batches):
    for i, batch in enumerate(batches):
        step = rollout_id * args.steps_per_rollout + i
        wandb.log({"loss": batch.loss}, step=step)
