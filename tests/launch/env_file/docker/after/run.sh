#!/bin/bash
docker run --rm --env-file docker/train.env -e PROBE_TOKEN --gpus all img python train.py
docker run --rm \
  --env-file=.env \
  -e PROBE_TOKEN \
  -v "$PWD:/work" \
  img python train.py
docker run --rm --env-file .env -e WANDB_API_KEY -e PROBE_TOKEN img python train.py
docker run --rm --env-file docker/other.env img python train.py
docker run --rm --env-file .env postgres
