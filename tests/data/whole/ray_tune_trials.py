import json
import os

import ray
from ray import tune


def objective(config):
    for step in range(3):
        tune.report({"loss": config["lr"] / (step + 1), "lr": config["lr"]})


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False)
    tuner = tune.Tuner(
        objective,
        param_space={"lr": tune.grid_search([0.1, 0.2, 0.3, 0.4])},
        run_config=tune.RunConfig(name="toy", storage_path=os.path.abspath("results"), verbose=0),
    )
    results = tuner.fit()
    kept = []
    for result in results:
        frame = result.metrics_dataframe
        kept.append(
            {key: {int(i): float(v) for i, v in zip(frame["training_iteration"], frame[key])} for key in ("loss", "lr")}
        )
    with open("record.json", "w") as file:
        json.dump(kept, file)
    ray.shutdown()
