from miles.ray.rollout import RolloutManager
from miles.utils.tracking_utils import finish_tracking, init_tracking


def train(args):
    init_tracking(args)
    manager = RolloutManager(args)
    try:
        for rollout_id in range(3):
            manager.generate(rollout_id)
    finally:
        finish_tracking()
