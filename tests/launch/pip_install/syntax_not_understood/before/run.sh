#!/bin/bash
if true; then
pip install wandb
fi)
