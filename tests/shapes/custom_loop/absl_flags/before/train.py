from absl import app, flags

flags.DEFINE_float("learning_rate", 0.1, "")
flags.DEFINE_integer("num_steps", 2, "")
FLAGS = flags.FLAGS


def main(argv):
    w = 3.0
    for step in range(FLAGS.num_steps):
        grad = 2 * w
        w -= FLAGS.learning_rate * grad
        print("step %d loss %f" % (step, w * w))


if __name__ == "__main__":
    app.run(main)
