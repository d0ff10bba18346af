#!/bin/bash
conda install -y wandb
pip install wandb probe-research
