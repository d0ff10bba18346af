#!/bin/bash
set -euo pipefail
pip install wandb probe-research
