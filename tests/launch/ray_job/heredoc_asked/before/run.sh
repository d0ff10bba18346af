#!/bin/bash
ENV_JSON=$(cat <<EOF
{"env_vars": {"A": "1"}}
EOF
)
ray job submit --runtime-env-json="$ENV_JSON" -- python train.py
