"""What this recipe logs of its rollouts."""


from recipes import probe_tracking as probe


def log_rollout(rollout_id, args, samples, extra, rollout_time):
    """Print how many there are; the default logging follows."""
    probe.per_sample_rollout_log(rollout_id, args, samples, extra, rollout_time)
    print("logged", rollout_id, len(samples))
    return True
