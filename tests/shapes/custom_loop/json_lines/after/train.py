import json

import probe_tracking as probe

w = 3.0
global_step = 0
probe.init()
for epoch in range(2):
    for batch in (1.0, 2.0):
        grad = 2 * w * batch
        w -= 0.05 * grad
        loss = w * w
        global_step += 1
        print(json.dumps({"epoch": epoch, "step": global_step, "loss": loss, "lr": 0.05}))
        probe.log({"loss": loss}, step=global_step)
probe.finish()
