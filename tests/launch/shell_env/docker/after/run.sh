#!/bin/bash
#SBATCH --export=WANDB_API_KEY,PROBE_TOKEN,HOME
docker run --rm -e WANDB_API_KEY -e PROBE_TOKEN -v a:b img
docker run --rm \
  -e WANDB_API_KEY=$WANDB_API_KEY \
  -e PROBE_TOKEN \
  -v a:b img
sudo docker run --env=WANDB_API_KEY="$WANDB_API_KEY" --env=PROBE_TOKEN="${PROBE_TOKEN:-}" img
docker run -eWANDB_API_KEY -ePROBE_TOKEN img
docker run -e "WANDB_API_KEY=${WANDB_API_KEY}" -e PROBE_TOKEN -e WANDB_MODE img
ARGS=(
  -e HF_TOKEN
  -e WANDB_API_KEY  # key
  -e PROBE_TOKEN
  -v a:b
)
docker run "${ARGS[@]}" img
OPTS="-e WANDB_API_KEY=$WANDB_API_KEY -e PROBE_TOKEN --rm"
docker run $OPTS img
