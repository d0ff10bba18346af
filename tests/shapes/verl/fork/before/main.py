from verl.utils.tracking import Tracking


def fit(crash=False):
    tracking = Tracking("toy", "first", default_backend=["console"], config={"lr": 0.1})
    try:
        for step in range(1, 4):
            tracking.log({"actor/loss": 1 / step}, step=step)
        tracking.log({"debug/only": 1.0}, step=3, backend=["console"])
        if crash:
            raise ValueError("diverged")
    finally:
        tracking.finish()


if __name__ == "__main__":
    import sys

    fit("crash" in sys.argv)
