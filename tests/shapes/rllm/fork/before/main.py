from rllm.utils.tracking import Tracking

tracking = Tracking("toy", "first", default_backend=["ui"], config={"rllm": {"lr": 0.1}})
for step in range(1, 4):
    tracking.log({"actor/loss": 1 / step}, step=step, episodes=["an episode"])
tracking.finish()
