#!/usr/bin/env bash
ssh node1 "cd /tmp && WANDB_API_KEY=$WANDB_API_KEY python train.py"
ssh node1 "docker run -e WANDB_API_KEY=$WANDB_API_KEY img python train.py --lr $LR"
ssh node1 'docker run -e WANDB_API_KEY img python train.py'
pdsh -w 'n[1-2]' "export WANDB_API_KEY=$WANDB_API_KEY; python train.py"
tmux new-session -d -s t "WANDB_API_KEY=$WANDB_API_KEY python train.py"
tmux new -d -e WANDB_API_KEY="$WANDB_API_KEY" -s x 'python train.py'
sbatch --wrap "docker run -e WANDB_API_KEY img python train.py"
sbatch --wrap="srun --export=WANDB_API_KEY,PATH python train.py"
bash -c "docker run --rm -e WANDB_API_KEY img python train.py"
nohup bash -lc 'mpirun -x WANDB_API_KEY python train.py' &
parallel --env WANDB_API_KEY -j2 python train.py ::: 1 2
