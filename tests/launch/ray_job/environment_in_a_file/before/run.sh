#!/bin/bash
ray job submit --runtime-env=env.yaml -- python train.py
