#!/bin/bash
ray job submit --runtime-env-json='{"env_vars": {"PROBE_TOKEN": "'"${PROBE_TOKEN:-}"'"}}' -- python train.py
ray job submit --address x \
  --working-dir . \
  --runtime-env-json='{"env_vars": {"PROBE_TOKEN": "'"${PROBE_TOKEN:-}"'"}}' \
  -- python3 -u train.py
