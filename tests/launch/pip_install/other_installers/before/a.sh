#!/bin/bash
set -euo pipefail
uv pip install --system wandb==0.17
uv add wandb
poetry add wandb trl
sudo pip3 install wandb
bash -c "pip install wandb && python train.py"
uv run --with wandb python train.py
PIP=pip
$PIP install -r requirements.txt wandb
