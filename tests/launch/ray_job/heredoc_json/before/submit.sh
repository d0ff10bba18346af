#!/bin/bash
set -euo pipefail
# heredoc json
RUNTIME_ENV_JSON=$(cat <<EOF
{
  "env_vars": {
    "WANDB_API_KEY": "${WANDB_API_KEY}"
  }
}
EOF
)
ray job submit --address="http://127.0.0.1:8265" \
   --runtime-env-json="${RUNTIME_ENV_JSON}" \
   -- python3 train.py \
   --lr 1
