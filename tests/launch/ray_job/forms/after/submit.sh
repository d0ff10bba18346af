#!/bin/bash
ray job submit --address=x --runtime-env-json '{"working_dir": ".", "pip": ["wandb==0.17", "probe-research"], "env_vars": {"WANDB_API_KEY": "'"$WANDB_API_KEY"'", "PROBE_TOKEN": "'"${PROBE_TOKEN:-}"'"}}' -- python train.py
ray job submit --no-wait --runtime-env-json="{\"env_vars\": {\"WANDB_API_KEY\": \"$WANDB_API_KEY\", \"PROBE_TOKEN\": \"${PROBE_TOKEN:-}\"}}" -- python -m train
ray job submit --working-dir . --runtime-env-json='{"env_vars": {"PROBE_TOKEN": "'"${PROBE_TOKEN:-}"'"}}' -- bash run.sh
uv run ray job submit --runtime-env-json='{"env_vars": {"PROBE_TOKEN": "'"${PROBE_TOKEN:-}"'"}}' -- python train.py
RAY_ADDRESS=x ray job submit --runtime-env-json "$(jq -n --arg k "$WANDB_API_KEY" '{env_vars: {WANDB_API_KEY: $k}}')" -- python train.py
