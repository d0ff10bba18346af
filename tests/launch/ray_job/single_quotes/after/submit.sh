#!/bin/bash
ray job submit --address="http://127.0.0.1:8265" \
  --runtime-env-json='{
    "env_vars": {
      "NCCL_DEBUG": "WARN",
      "WANDB_API_KEY": "'"$WANDB_API_KEY"'",
      "PROBE_TOKEN": "'"${PROBE_TOKEN:-}"'"
    },
    "pip": {"packages": ["wandb==0.17", "probe-research", "trl"]}
  }' \
  -- python3 train.py --lr 1
