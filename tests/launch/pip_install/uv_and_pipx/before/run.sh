#!/bin/bash
uv run --with wandb --with 'torch>=2' python train.py
uv run --with=wandb python train.py
uvx --with wandb --from toy toy
uv tool run --with wandb toy
pipx inject toy wandb
pixi add --pypi wandb
