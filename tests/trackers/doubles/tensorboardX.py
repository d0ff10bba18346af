"""A stand-in for tensorboardX and torch.utils.tensorboard; a scalar without a step is at step 0."""

from __future__ import annotations

import recording


class SummaryWriter:
    def __init__(self, logdir=None, comment="", log_dir=None, **rest):
        recording.record("tensorboard", "SummaryWriter", logdir or log_dir, comment)
        self._run = recording.open_run("tensorboard")

    def add_scalar(self, tag, scalar_value, global_step=None, walltime=None, **rest):
        recording.record("tensorboard", "add_scalar", tag, scalar_value, global_step)
        recording.point(self._run, tag, scalar_value, global_step or 0)

    def add_scalars(self, main_tag, tag_scalar_dict, global_step=None, walltime=None):
        recording.record("tensorboard", "add_scalars", main_tag, tag_scalar_dict, global_step)
        for tag, value in tag_scalar_dict.items():
            recording.point(self._run, f"{main_tag}/{tag}", value, global_step or 0)

    def add_hparams(self, *args, **kwargs):
        recording.record("tensorboard", "add_hparams")

    def add_image(self, *args, **kwargs):
        recording.record("tensorboard", "add_image")

    add_text = add_histogram = add_graph = add_image

    def flush(self):
        pass

    def close(self):
        recording.record("tensorboard", "close")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
