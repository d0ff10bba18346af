import json

w = 3.0
global_step = 0
for epoch in range(2):
    for batch in (1.0, 2.0):
        grad = 2 * w * batch
        w -= 0.05 * grad
        loss = w * w
        global_step += 1
        print(json.dumps({"epoch": epoch, "step": global_step, "loss": loss, "lr": 0.05}))
