import logging

from lightning.pytorch.loggers import TensorBoardLogger
from tianshou.data import Batch
from tianshou.utils import LazyLogger, MovAvg


class TensorboardLogger:
    def write(self, step_type, step, data):
        logging.info("%s %s %s", step_type, step, data)


logger = TensorboardLogger()
quiet = LazyLogger()
other = TensorBoardLogger("logs")
average = MovAvg()
