#!/bin/bash
set -euo pipefail
pip install -q wandb probe-research  # tracker
python train.py
