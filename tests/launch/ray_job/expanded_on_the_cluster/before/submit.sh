#!/bin/bash
ray job submit --runtime-env env/runtime.yaml --working-dir . -- python train.py
ray job submit --runtime-env=env/runtime.json -- python train.py
ray job submit --runtime-env env/fixed.yaml -- python train.py
