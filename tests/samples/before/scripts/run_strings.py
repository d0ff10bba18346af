import subprocess
import sys


def execute(batch=32, model="Qwen3-4B"):
    """Run with --rollout-batch-size 32 unless told otherwise."""
    ckpt_args = f"--hf-checkpoint /root/{model} "
    rollout_args = (
        "--prompt-data /root/dapo.jsonl "
        # "--rollout-batch-size 128 "
        "--num-rollout 3000 "
        f"--rollout-batch-size {batch} "
        "--n-samples-per-prompt 8 "
    )
    one_line = f"--num-rollout 10 --rollout-batch-size {batch} --lr 1e-6"
    for arguments in (rollout_args, one_line):
        subprocess.run([sys.executable, "train.py", *(ckpt_args + arguments).split()], check=True)


if __name__ == "__main__":
    execute()
