#!/bin/bash
set -euo pipefail
python3 -m pip install \
    "wandb>=0.17" \
    torch \
  && echo ok
