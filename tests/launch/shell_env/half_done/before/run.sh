#!/bin/bash
docker run -e WANDB_API_KEY -e PROBE_TOKEN img python train.py
docker run -e WANDB_API_KEY img python train.py
pip install wandb probe-research
