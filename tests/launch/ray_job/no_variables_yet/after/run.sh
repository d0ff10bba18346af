#!/bin/bash
ray job submit --runtime-env-json '{"working_dir": ".", "env_vars": {"PROBE_TOKEN": "'"${PROBE_TOKEN:-}"'"}}' -- python train.py
ray job submit --runtime-env-json '{"env_vars": {"PROBE_TOKEN": "'"${PROBE_TOKEN:-}"'"}}' -- python train.py
ray job submit --runtime-env-json '{"working_dir": "."}' -- python /opt/other.py
