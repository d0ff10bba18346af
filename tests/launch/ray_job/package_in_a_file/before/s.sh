#!/bin/bash
ray job submit --runtime-env runtime_env.json -- python train.py
