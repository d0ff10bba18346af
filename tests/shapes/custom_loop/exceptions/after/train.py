import sys

import probe_tracking as probe

w, rate = 3.0, 0.4


def fit(steps):
    global w
    probe.init(config={"steps": steps, "rate": rate})
    for step in range(steps):
        if step == 3:
            raise ValueError("nan")
        grad = w
        w -= rate * grad
        loss = grad * grad
        print("step", step, "loss", loss)
        probe.log({"loss": loss}, step=step)
    probe.finish()
    return w


try:
    fit(5)
except ValueError as error:
    print("stopped:", error)
fit(2)
sys.exit(3)
