#!/bin/sh
# POSIX
docker run --rm \
  -e WANDB_API_KEY \
  -e PROBE_TOKEN \
  -e "WANDB_PROJECT=x" \
  img python train.py
docker run --rm -e WANDB_API_KEY="${WANDB_API_KEY:?}" -e PROBE_TOKEN img \
  python train.py "$@"
CMD="docker run -e WANDB_API_KEY=$WANDB_API_KEY -e PROBE_TOKEN img"
$CMD python train.py
eval "docker run -e WANDB_API_KEY -e PROBE_TOKEN img python train.py"
