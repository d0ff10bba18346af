#!/usr/bin/env bash
set -eu
VARS="WANDB_API_KEY,PROBE_TOKEN,HF_TOKEN"
srun --export="$VARS" python train.py
srun --export="${VARS}" python train.py
sbatch --export=WANDB_API_KEY="$WANDB_API_KEY",PROBE_TOKEN,LR=1 job.sbatch
srun --export=ALL,WANDB_API_KEY python train.py
srun --export="ALL,LR=1" python train.py
