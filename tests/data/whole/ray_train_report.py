import json

import ray
from ray import train
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer


def loop(config):
    kept = {"loss": {}, "rank": {}}
    for step in range(4):
        loss = config["lr"] / (step + 1)
        rank = train.get_context().get_world_rank()
        train.report({"loss": loss, "rank": rank})
        kept["loss"][step], kept["rank"][step] = loss, rank
    if train.get_context().get_world_rank() == 0:
        with open(config["record"], "w") as file:
            json.dump(kept, file)


if __name__ == "__main__":
    import os

    ray.init(num_cpus=3, include_dashboard=False)
    trainer = TorchTrainer(
        loop,
        train_loop_config={"lr": 0.5, "record": os.path.abspath("record.json")},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(name="toy", storage_path=os.path.abspath("results")),
    )
    trainer.fit()
    ray.shutdown()
