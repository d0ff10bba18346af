"""A small trainer in the manner of Miles and slime: rollouts of different sizes, one funnel for all rows."""

from argparse import Namespace

from forge import log_utils, model, rollout, tracking
from forge.types import Sample

SIZES = [10, 4, 6, 8, 3]


def samples_of(rollout_id):
    made = [Sample(0.5 + rollout_id / 10 + i / 100, {"domain": "math" if i % 2 else "code"}) for i in range(4)]
    made[0].speculation.add({"accepted": 3, "drafted": 4})
    made[1].speculation.add({})
    return made


def main():
    args = Namespace(save="ckpt", load="ckpt", rank=0, job="job-11")
    tracking.init_tracking(args)
    weights, start = model.load(args)
    for rollout_id in range(start, len(SIZES)):
        rollout.log_rollout(rollout_id, args, samples_of(rollout_id), {"buffer": rollout_id + 1.0})
        model.train(args, rollout_id, weights, [1] * SIZES[rollout_id])
        log_utils.gather_log_data("rollout", args, rollout_id, {"length": 10.0}, [{"length": 20.0}])
        model.save(args, rollout_id, weights)
    import probe

    probe.finish()


if __name__ == "__main__":
    main()
