#!/bin/bash
python3 train.py --rollout-batch-size 32 --custom-rollout-log-function-path probe.connectors.miles.per_sample_rollout_log
