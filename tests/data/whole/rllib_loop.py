import json

import ray
from ray.rllib.algorithms.ppo import PPOConfig


def numbers(tree, prefix=""):
    found = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            found |= numbers(value, f"{prefix}{key}/")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found[f"{prefix}{key}"] = float(value)
    return found


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False)
    config = (
        PPOConfig()
        .environment("CartPole-v1")
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=64, minibatch_size=32, num_epochs=1)
        .learners(num_learners=0)
    )
    algo = config.build_algo()
    kept = []
    for _ in range(2):
        result = algo.train()
        kept.append((result["training_iteration"], numbers(result)))
    with open("record.json", "w") as file:
        json.dump(kept, file)
    algo.stop()
    ray.shutdown()
