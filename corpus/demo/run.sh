#!/usr/bin/env bash
set -euo pipefail
pip install -r requirements.txt
python train.py --steps "${STEPS:-1200}"
