from log_utils import log_step


def train(rollout_id, rollout):
    microbatches = rollout.split()
    num_steps = len(microbatches)
    for step_id, batch in enumerate(microbatches):
        log_step(rollout_id, step_id, num_steps, batch.loss)
