import argparse

import ray
from actor import Sampler
from miles.ray.placement import create_training_models
from miles.utils.tracking_utils import tracking

import probe_tracking as probe


def main(cfg):
    probe.register(cfg)
    tracking.init_tracking(args=cfg, primary=True)
    models = create_training_models(cfg)
    sampler = Sampler.remote(cfg)
    for i in range(3):
        ray.get(sampler.sample.remote(i))
        tracking.log(cfg, {"train/loss": 1.0 / (i + 1), "train/step": 10 * i}, step_key="train/step")
    ray.get(sampler.close.remote())
    tracking.finish_tracking()
    return models


if __name__ == "__main__":
    main(argparse.Namespace(use_wandb=False, track=True))
