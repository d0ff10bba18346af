#!/usr/bin/env bash
env -i PATH="$PATH" HOME="$HOME" WANDB_API_KEY="$WANDB_API_KEY" python train.py
env - \
  PATH="$PATH" \
  WANDB_API_KEY="$WANDB_API_KEY" \
  LR=1 \
  python train.py
env -u FOO WANDB_API_KEY="$WANDB_API_KEY" python train.py
sudo WANDB_API_KEY="$WANDB_API_KEY" python train.py
sudo -E WANDB_API_KEY="$WANDB_API_KEY" python train.py
sudo -u bob env WANDB_API_KEY="$WANDB_API_KEY" python train.py
mpiexec -genv WANDB_API_KEY "$WANDB_API_KEY" -n 2 python train.py
mpiexec -envlist WANDB_API_KEY,PATH -n 2 python train.py
