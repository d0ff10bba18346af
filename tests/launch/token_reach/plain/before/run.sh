#!/usr/bin/env bash
#SBATCH --export=ALL
#SBATCH -N 1
srun python train.py
torchrun train.py
sudo apt-get install -y git
docker build -t x .
