#!/bin/bash
python3 train.py \
    --num-rollout 3000 \
    --custom-rollout-log-function-path=probe.connectors.miles.per_sample_rollout_log \
    --rollout-batch-size=32 \
    --n-samples-per-prompt 8
