import logging

import probe_tracking as probe

logging.basicConfig(format="%(message)s", level=logging.INFO)
logger = logging.getLogger(__name__)

max_iters = 6
learning_rate = 0.1
iter_num = 0
w = 4.0

probe.init(config={"max_iters": max_iters, "learning_rate": learning_rate})
while True:
    if iter_num >= max_iters:
        break
    grad = 2 * w
    w -= learning_rate * grad
    loss = w * w
    if iter_num % 2 == 0:
        logger.info("iter %d: loss %.4f, lr %e", iter_num, loss, learning_rate)
        probe.log({"loss": loss, "lr": learning_rate}, step=iter_num)
    iter_num += 1
probe.finish()
