import time
from collections import defaultdict

import probe_tracking as probe

t0 = time.time()
iter_num = 0
best_val_loss = 1e9
eval_interval, log_interval, max_iters = 4, 2, 8
config = {k: v for k, v in globals().items() if isinstance(v, (int, float)) and not k.startswith("_")}


def estimate_loss():
    out = {}
    for split in ["train", "val"]:
        out[split] = 10.0 / (iter_num + 1)
    return out


probe.init(config={"max_iters": max_iters})
while True:
    if iter_num % eval_interval == 0:
        losses = estimate_loss()
        print(f"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
        probe.log({"train_loss": losses['train'], "val_loss": losses['val']}, step=iter_num)
        if losses["val"] < best_val_loss:
            best_val_loss = losses["val"]
    loss = 5.0 / (iter_num + 1)
    t1 = time.time()
    dt = 0.1
    t0 = t1
    if iter_num % log_interval == 0:
        lossf = loss * 1
        print(f"iter {iter_num}: loss {lossf:.4f}, time {dt*1000:.2f}ms, mfu {0.5*100:.2f}%")
        probe.log({"loss": lossf}, step=iter_num)
    iter_num += 1
    if iter_num > max_iters:
        break
probe.finish()
