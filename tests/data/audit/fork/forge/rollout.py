from forge import tracking
from forge.types import Sample


def dict_add_prefix(row, prefix):
    return {f"{prefix}{key}": value for key, value in row.items()}


def log_rollout(rollout_id, args, samples, extra):
    log_dict = {**(extra or {})}
    log_dict |= dict_add_prefix(sample_metrics(args, samples), "rollout/")
    log_dict["rollout/step"] = rollout_id
    tracking.log(args, log_dict, step_key="rollout/step")


def sample_metrics(args, samples: list[Sample]):
    log_dict = {}
    log_dict["reward"] = sum(sample.reward for sample in samples) / len(samples)
    log_dict["accept_rate"] = sum(sample.speculation.accept_rate for sample in samples) / len(samples)
    return log_dict
