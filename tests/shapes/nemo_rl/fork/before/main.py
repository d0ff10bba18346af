import sys

from nemo_rl.utils.logger import Logger

logger = Logger({"wandb_enabled": False, "file_enabled": True})
logger.log_hyperparams({"grpo": {"lr": 0.1}})
for step in range(1, 4):
    logger.log_metrics({"loss": 1 / step, "lengths": [1, 2]}, step, prefix="train")
    logger.log_metrics({"accuracy": 0.5}, step, prefix="validation", step_finished=True)
logger.log_metrics({"ray/ray_step": 7, "gpu": 90.0}, 7, prefix="ray", step_metric="ray/ray_step")
if "crash" in sys.argv:
    raise ValueError("diverged")
logger.finish()
