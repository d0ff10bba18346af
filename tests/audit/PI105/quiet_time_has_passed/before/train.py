import wandb


def log(tokens, elapsed_time, step):
    wandb.log({"perf/tokens_per_second": tokens / elapsed_time if elapsed_time > 0 else 0.0}, step=step)
