import wandb


def train(rollout_id, microbatches):
    steps_per_rollout = len(microbatches)
    for i, batch in enumerate(microbatches):
        step = rollout_id * steps_per_rollout + i  # -> PI103
        wandb.log({"loss": batch.loss}, step=step)
