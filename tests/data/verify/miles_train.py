"""The driver only starts the actor that trains; `sys.argv[1]` says where Probe is registered."""

import sys
from argparse import Namespace

import miles_tracking
import ray


@ray.remote
class Actor:
    def __init__(self, args):
        if args.where == "actor":
            miles_tracking.register()
        self.tracking = miles_tracking.Tracking(args)

    def train(self, step):
        self.tracking.log({"train/step": step, "train/loss": 1 / (step + 1), "train/lr": 0.1}, step_key="train/step")

    def close(self):
        self.tracking.finish()


args = Namespace(where=sys.argv[1], run_name="miles", save="ckpt", use_probe=True, probe_snapshot=False)
if args.where == "driver":  # does not reach the actor
    miles_tracking.register()
ray.init(num_cpus=1, include_dashboard=False)
actor = Actor.remote(args)
for step in range(6):
    ray.get(actor.train.remote(step))
ray.get(actor.close.remote())
ray.shutdown()
