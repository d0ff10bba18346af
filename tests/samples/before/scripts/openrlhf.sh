#!/bin/bash
python3 -m openrlhf.cli.train_ppo_ray --rollout_batch_size 1024
