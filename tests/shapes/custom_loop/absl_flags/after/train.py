from absl import app, flags

import probe_tracking as probe

flags.DEFINE_float("learning_rate", 0.1, "")
flags.DEFINE_integer("num_steps", 2, "")
FLAGS = flags.FLAGS


def main(argv):
    w = 3.0
    probe.init(config=FLAGS.flag_values_dict())
    for step in range(FLAGS.num_steps):
        grad = 2 * w
        w -= FLAGS.learning_rate * grad
        print("step %d loss %f" % (step, w * w))
        probe.log({"loss": w * w}, step=step)
    probe.finish()


if __name__ == "__main__":
    app.run(main)
