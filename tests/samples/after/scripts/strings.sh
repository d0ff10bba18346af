#!/bin/bash
BATCH=32
ROLLOUT_ARGS="--num-rollout 3000 --custom-rollout-log-function-path probe.connectors.miles.per_sample_rollout_log --rollout-batch-size $BATCH"
OTHER="
  --lr 1e-6
"
python3 train.py $ROLLOUT_ARGS $OTHER
