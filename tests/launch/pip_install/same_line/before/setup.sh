#!/bin/bash
set -euo pipefail
pip install -q wandb  # tracker
python train.py
