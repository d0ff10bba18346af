import wandb


class Info:
    def __init__(self):
        self.hits = 0
        self.total = 0

    @property
    def hit_rate(self):
        return self.hits / self.total if self.total > 0 else 0.0  # -> PI105

    def add(self, meta):
        self.hits += meta.get("hits", 0)  # -> PI105
        self.total += meta["total"]


def log_metrics(info, correct, step):
    row = {"cache/hit_rate": info.hit_rate}
    if len(correct) > 0:
        row["correct/entropy"] = sum(correct) / len(correct)
    else:
        row["correct/entropy"] = 0.0  # -> PI105
    wandb.log(row, step=step)
