from recorder import JsonLogger
import probe_tracking as probe

w = 2.0
logger = JsonLogger("metrics.jsonl")
probe.init()
for epoch in range(2):
    for i in range(3):
        grad = 2 * w
        w -= 0.1 * grad
    logger.write({"epoch": epoch, "loss": w * w, "lr": 0.1})
probe.finish()
print(open("metrics.jsonl").read(), end="")
