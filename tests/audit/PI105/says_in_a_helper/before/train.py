import numpy as np
import wandb


def log(samples, step):
    row = {f"rollout/{k}": v for k, v in metrics_of(samples).items()}
    wandb.log(row, step=step)


def metrics_of(samples):
    hits, total = sum(s.hits for s in samples), sum(s.total for s in samples)
    metrics = {"samples": len(samples)}
    metrics["cache_hit_rate"] = hits / total if total > 0 else 0.0  # -> PI105
    metrics["length"] = mean_length(samples)
    return metrics


def mean_length(samples):
    if not samples:
        return 0.0  # -> PI105
    return np.mean([s.length for s in samples])
