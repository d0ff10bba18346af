#!/bin/bash
ARGS=(
  --rollout-batch-size 32
  --custom-rollout-log-function-path theirs.logs.log_rollout
)
python3 train.py "${ARGS[@]}"
