from recorder import JsonLogger

w = 2.0
logger = JsonLogger("metrics.jsonl")
for epoch in range(2):
    for i in range(3):
        grad = 2 * w
        w -= 0.1 * grad
    logger.write({"epoch": epoch, "loss": w * w, "lr": 0.1})
print(open("metrics.jsonl").read(), end="")
