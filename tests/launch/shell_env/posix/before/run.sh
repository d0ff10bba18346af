#!/bin/sh
# POSIX
docker run --rm \
  -e WANDB_API_KEY \
  -e "WANDB_PROJECT=x" \
  img python train.py
docker run --rm -e WANDB_API_KEY="${WANDB_API_KEY:?}" img \
  python train.py "$@"
CMD="docker run -e WANDB_API_KEY=$WANDB_API_KEY img"
$CMD python train.py
eval "docker run -e WANDB_API_KEY img python train.py"
