#!/bin/bash
python3 train.py \
    --num-rollout 3000 \
    --rollout-batch-size=32 \
    --n-samples-per-prompt 8
