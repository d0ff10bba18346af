#!/bin/bash
set -ex
HAS_NVLINK=1
RUNTIME_ENV_JSON="{
  \"env_vars\": {
    \"PYTHONPATH\": \"/root/Megatron-LM/\",
    \"NCCL_NVLS_ENABLE\": \"${HAS_NVLINK}\",
    \"PROBE_TOKEN\": \"${PROBE_TOKEN:-}\"
  }
}"

ray job submit --address="http://127.0.0.1:8265" \
   --runtime-env-json="${RUNTIME_ENV_JSON}" \
   -- python3 train.py
