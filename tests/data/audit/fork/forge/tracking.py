"""Where every row of this trainer goes through."""

import probe


def init_tracking(args):
    probe.init(name="fork", external_id=args.job, capture_reads=False, capture_outputs=False)


def log(args, metrics, step_key):
    row = {key: value for key, value in metrics.items() if key != step_key}
    probe.log(row, step=metrics[step_key])
