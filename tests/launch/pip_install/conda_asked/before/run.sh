#!/bin/bash
micromamba install -y -n base wandb
conda create -n x python=3.11 wandb
conda run -n x python train.py
pixi add wandb
