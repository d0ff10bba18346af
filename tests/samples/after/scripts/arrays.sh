#!/bin/bash
set -ex

CKPT_ARGS=(
   --hf-checkpoint /root/Qwen3-4B
   --save /root/out
)

ROLLOUT_ARGS=(
   --prompt-data /root/dapo.jsonl
   # --rollout-batch-size 128
   --num-rollout 3000
   --custom-rollout-log-function-path probe.connectors.miles.per_sample_rollout_log
   --rollout-batch-size 32
   --n-samples-per-prompt 8
)

ray job submit --address="http://127.0.0.1:8265" \
   --runtime-env-json='{"env_vars": {"PROBE_TOKEN": "'"${PROBE_TOKEN:-}"'"}}' \
   -- python3 train.py \
   --colocate \
   ${CKPT_ARGS[@]} \
   ${ROLLOUT_ARGS[@]}
