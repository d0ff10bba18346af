from miles.ray.rollout import RolloutManager
from miles.utils.tracking_utils import init_tracking


def train(args):
    init_tracking(args)
    manager = RolloutManager(args)
    for rollout_id in range(3):
        manager.generate(rollout_id)
