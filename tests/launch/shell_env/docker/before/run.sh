#!/bin/bash
#SBATCH --export=WANDB_API_KEY,HOME
docker run --rm -e WANDB_API_KEY -v a:b img
docker run --rm \
  -e WANDB_API_KEY=$WANDB_API_KEY \
  -v a:b img
sudo docker run --env=WANDB_API_KEY="$WANDB_API_KEY" img
docker run -eWANDB_API_KEY img
docker run -e "WANDB_API_KEY=${WANDB_API_KEY}" -e WANDB_MODE img
ARGS=(
  -e HF_TOKEN
  -e WANDB_API_KEY  # key
  -v a:b
)
docker run "${ARGS[@]}" img
OPTS="-e WANDB_API_KEY=$WANDB_API_KEY --rm"
docker run $OPTS img
