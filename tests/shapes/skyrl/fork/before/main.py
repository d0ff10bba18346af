import sys

from skyrl.train.utils.tracking import Tracking


def fit(crash=False):
    tracker = Tracking("toy", "first", config={"trainer": {"lr": 0.1}})
    try:
        for step in range(1, 4):
            tracker.log({"policy/loss": 1 / step}, step=step, commit=False)
            tracker.log({"timing/step": 0.5}, step=step, commit=True)
        if crash:
            raise ValueError("diverged")
    except Exception as error:
        tracker.log_exception(error, step=3)
        raise
    tracker.finish()


if __name__ == "__main__":
    fit("crash" in sys.argv)
