#!/usr/bin/env bash
for v in WANDB_API_KEY HF_TOKEN; do
  ARGS+=(-e "$v")
done
NAMES=(WANDB_API_KEY HF_TOKEN)
ssh node1 <<EOF
export WANDB_API_KEY=$WANDB_API_KEY
python train.py
EOF
ssh -o SendEnv=WANDB_API_KEY node2 python train.py
kubectl set env job/x WANDB_API_KEY=$WANDB_API_KEY
python mason.py --env WANDB_API_KEY=$WANDB_API_KEY -- python train.py
helm install x ./chart --set env.WANDB_API_KEY=$WANDB_API_KEY
