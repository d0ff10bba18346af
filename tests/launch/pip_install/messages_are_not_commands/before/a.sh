#!/bin/bash
set -euo pipefail
echo pip install wandb
cat <<EOF
pip install wandb
EOF
# pip install wandb
msg="please pip install wandb"
exit 0
