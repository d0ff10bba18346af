#!/bin/bash
docker run --rm --env-file docker/train.env --gpus all img python train.py
docker run --rm \
  --env-file=.env \
  -v "$PWD:/work" \
  img python train.py
docker run --rm --env-file .env -e WANDB_API_KEY img python train.py
docker run --rm --env-file docker/other.env img python train.py
docker run --rm --env-file .env postgres
