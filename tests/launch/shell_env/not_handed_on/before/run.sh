#!/usr/bin/env bash
export WANDB_API_KEY=$(cat ~/.wandb)
[ -z "$WANDB_API_KEY" ] && echo "WANDB_API_KEY is not set"
if [[ -z "${WANDB_API_KEY:-}" ]]; then wandb login; fi
WANDB_API_KEY=$WANDB_API_KEY python train.py
docker build --build-arg WANDB_API_KEY=$WANDB_API_KEY -t x .
env WANDB_API_KEY=$WANDB_API_KEY python train.py
grep -q WANDB_API_KEY= .env || echo "WANDB_API_KEY=" >> .env
bash -c "WANDB_API_KEY=$WANDB_API_KEY python train.py"
