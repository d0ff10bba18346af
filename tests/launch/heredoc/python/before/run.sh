#!/bin/bash
LR=1
python3 - <<EOF
import wandb
wandb.init(project="toy", config={"lr": $LR})
EOF
cat > c.yaml <<'YAML'
report_to: wandb
YAML
