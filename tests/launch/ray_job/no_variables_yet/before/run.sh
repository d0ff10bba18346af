#!/bin/bash
ray job submit --runtime-env-json '{"working_dir": "."}' -- python train.py
ray job submit --runtime-env-json '{"env_vars": {}}' -- python train.py
ray job submit --runtime-env-json '{"working_dir": "."}' -- python /opt/other.py
