#!/bin/bash
pip install -i https://mirrors.example.org/pypi/simple wandb
pip install wandb --index-url https://download.pytorch.org/whl/cpu --extra-index-url https://mirror.example.org/simple
