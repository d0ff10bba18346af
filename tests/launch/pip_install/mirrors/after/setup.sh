#!/bin/bash
pip install -i https://mirrors.example.org/pypi/simple wandb probe-research
pip install wandb probe-research --index-url https://download.pytorch.org/whl/cpu --extra-index-url https://mirror.example.org/simple
