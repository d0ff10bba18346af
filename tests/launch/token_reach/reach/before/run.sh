#!/usr/bin/env bash
docker run --gpus all img python train.py
env -i PATH="$PATH" python train.py
sudo python train.py
sudo -E python train.py
sudo --preserve-env=PATH python train.py
env LR=1 python train.py
srun --export=NONE python train.py
srun --export=ALL,LR=1 python train.py
sbatch --export=NONE job.sbatch
sudo apt-get install -y git
