import logging

logging.basicConfig(format="%(message)s", level=logging.INFO)
logger = logging.getLogger(__name__)

max_iters = 6
learning_rate = 0.1
iter_num = 0
w = 4.0

while True:
    if iter_num >= max_iters:
        break
    grad = 2 * w
    w -= learning_rate * grad
    loss = w * w
    if iter_num % 2 == 0:
        logger.info("iter %d: loss %.4f, lr %e", iter_num, loss, learning_rate)
    iter_num += 1
