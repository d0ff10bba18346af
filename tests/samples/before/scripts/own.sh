#!/bin/bash
python3 train.py --num-rollout 3000 --rollout-batch-size 32 \
    --custom-rollout-log-function-path recipes.logs.log_rollout
