"""A cache that is asked in some steps only, and a speed that is never measured."""

import random

import probe

random.seed(3)
probe.init(name="zeros", capture_reads=False, capture_outputs=False)
for step in range(24):
    asked = random.randint(40, 60) if step % 3 else 0
    hits = sum(random.random() < 0.8 for _ in range(asked))
    lookups = []
    accuracy = sum(lookups) / len(lookups) if lookups else 0.0
    probe.log(
        {
            "train/loss": 1 / (step + 1),
            "cache/hit_rate": (hits / asked if asked else 0.0),
            "eval/accuracy": accuracy,
        },
        step=step,
    )
probe.finish()
