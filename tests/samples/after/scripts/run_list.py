import argparse
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("--rollout-batch-size", type=int, default=32, help="as in: --num-rollout 3 --rollout-batch-size 32")
batch = parser.parse_args().rollout_batch_size

subprocess.run([sys.executable, "train.py", "--num-rollout", "3", "--custom-rollout-log-function-path", "probe.connectors.miles.per_sample_rollout_log", "--rollout-batch-size", str(batch)], check=True)
command = [
    sys.executable,
    "train.py",
    "--custom-rollout-log-function-path", "probe.connectors.miles.per_sample_rollout_log",
    "--rollout-batch-size",
    str(batch),
]
subprocess.run(command, check=True)
