import tensorflow as tf

writer = tf.summary.create_file_writer("logs")
w = 2.0
for epoch in range(3):
    grad = 2 * w
    w -= 0.1 * grad
    print("loss", w * w)
    with writer.as_default():
        tf.summary.scalar("loss", w * w, step=epoch)
