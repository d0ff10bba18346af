from miles.utils import tracking_utils
from miles.utils.tracking_utils import init_tracking


class RolloutManager:
    def __init__(self, args):
        self.args = args
        init_tracking(args, primary=False, router_addr="http://127.0.0.1:1")

    def generate(self, rollout_id):
        metrics = {"rollout/reward": 0.1 * rollout_id, "rollout/step": rollout_id}
        tracking_utils.log(self.args, metrics, step_key="rollout/step")
