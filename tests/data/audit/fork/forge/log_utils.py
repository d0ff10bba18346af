from forge import tracking


def gather_object(row, rank_rows):
    """Stands in for the collective: what each rank has."""
    return [row, *rank_rows]


def gather_log_data(name, args, rollout_id, row, rank_rows):
    gathered = gather_object(row, rank_rows)
    reduced = {f"{name}/{key}": sum([d[key] for d in gathered]) / len(gathered) for key in row}
    reduced["rollout/step"] = rollout_id
    tracking.log(args, reduced, step_key="rollout/step")


def log_train_step(args, loss, rollout_id, step_id, num_steps_per_rollout, role="actor"):
    accumulated_step_id = rollout_id * num_steps_per_rollout + step_id
    log_dict = {"train/loss": loss}
    log_dict["train/step"] = accumulated_step_id
    tracking.log(args, log_dict, step_key="train/step")
    return accumulated_step_id
