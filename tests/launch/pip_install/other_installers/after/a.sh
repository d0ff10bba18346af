#!/bin/bash
set -euo pipefail
uv pip install --system wandb==0.17 probe-research
uv add wandb probe-research
poetry add wandb probe-research trl
sudo pip3 install wandb probe-research
bash -c "pip install wandb probe-research && python train.py"
uv run --with wandb --with probe-research python train.py
PIP=pip
$PIP install -r requirements.txt wandb probe-research
