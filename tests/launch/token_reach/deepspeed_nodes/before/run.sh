#!/bin/bash
deepspeed --hostfile hostfile train.py --deepspeed ds.json
accelerate launch --multi_gpu train.py
DS_ENV_FILE=~/.ds_env deepspeed --hostfile h train.py
