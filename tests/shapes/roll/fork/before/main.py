import sys

from roll.utils.tracking import create_tracker


def run(crash=False):
    tracker = create_tracker(tracker_name="stdout", config={"exp_name": "first", "tracker_kwargs": {"api_key": "secret"}})
    for global_step in range(3):
        tracker.log(values={"actor/loss@mean": 1.0 - global_step, "system/step": global_step}, step=global_step)
    if crash:
        raise ValueError("diverged")


if __name__ == "__main__":
    run("crash" in sys.argv)
