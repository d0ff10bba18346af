#!/usr/bin/env bash
env -i PATH="$PATH" HOME="$HOME" WANDB_API_KEY="$WANDB_API_KEY" PROBE_TOKEN="${PROBE_TOKEN:-}" python train.py
env - \
  PATH="$PATH" \
  WANDB_API_KEY="$WANDB_API_KEY" \
  PROBE_TOKEN="${PROBE_TOKEN:-}" \
  LR=1 \
  python train.py
env -u FOO WANDB_API_KEY="$WANDB_API_KEY" python train.py
sudo WANDB_API_KEY="$WANDB_API_KEY" PROBE_TOKEN="${PROBE_TOKEN:-}" python train.py
sudo -E WANDB_API_KEY="$WANDB_API_KEY" python train.py
sudo -u bob env WANDB_API_KEY="$WANDB_API_KEY" PROBE_TOKEN="${PROBE_TOKEN:-}" python train.py
mpiexec -genv WANDB_API_KEY "$WANDB_API_KEY" -genv PROBE_TOKEN "${PROBE_TOKEN:-}" -n 2 python train.py
mpiexec -envlist WANDB_API_KEY,PROBE_TOKEN,PATH -n 2 python train.py
