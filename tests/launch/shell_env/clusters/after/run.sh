#!/bin/bash
set -euo pipefail
srun --export=WANDB_API_KEY,PROBE_TOKEN,HOME python x.py
srun --export=ALL,FOO=1 python x.py
srun --export=ALL,WANDB_API_KEY=$WANDB_API_KEY python x.py
sbatch --export="WANDB_API_KEY=$WANDB_API_KEY,PROBE_TOKEN,HOME" job.sh
apptainer exec --nv --env WANDB_API_KEY=$WANDB_API_KEY,PROBE_TOKEN=${PROBE_TOKEN:-},A=1 img.sif python t.py
apptainer exec --env "WANDB_API_KEY=$WANDB_API_KEY,PROBE_TOKEN=${PROBE_TOKEN:-}" img.sif python t.py
export SINGULARITYENV_WANDB_API_KEY=$WANDB_API_KEY
export SINGULARITYENV_PROBE_TOKEN="${PROBE_TOKEN:-}"
mpirun -np 4 -x WANDB_API_KEY -x PROBE_TOKEN -x PATH python t.py
sky launch -c c c.yaml --secret WANDB_API_KEY --secret PROBE_TOKEN="${PROBE_TOKEN:-}" -y
kubectl create secret generic s --from-literal=WANDB_API_KEY=$WANDB_API_KEY --from-literal=PROBE_TOKEN="${PROBE_TOKEN:-}"
sudo --preserve-env=WANDB_API_KEY,PROBE_TOKEN,HOME python t.py
srun --container-env=WANDB_API_KEY,PROBE_TOKEN --container-image x python t.py
docker run -e PROBE_TOKEN -e WANDB_API_KEY img
qsub -v WANDB_API_KEY,PROBE_TOKEN job.sh
