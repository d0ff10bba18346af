import ray
from miles.utils.tracking_utils.tracking import finish_tracking, init_tracking, log


@ray.remote
class Sampler:
    def __init__(self, args):
        self.args = args
        if args.track: init_tracking(args, primary=False)

    def sample(self, i):
        log(self.args, {"rollout/reward": 0.1 * i, "rollout/step": i}, "rollout/step")

    def close(self):
        finish_tracking()
