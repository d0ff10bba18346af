#!/bin/bash
ray job submit --address="http://127.0.0.1:8265" \
  --runtime-env-json='{
    "env_vars": {
      "NCCL_DEBUG": "WARN",
      "WANDB_API_KEY": "'"$WANDB_API_KEY"'"
    },
    "pip": {"packages": ["wandb==0.17", "trl"]}
  }' \
  -- python3 train.py --lr 1
