import wandb


def log_step(rollout_id, step_id, num_steps, loss):
    global_step = rollout_id * num_steps + step_id  # -> PI103
    wandb.log({"train/loss": loss}, step=global_step)
