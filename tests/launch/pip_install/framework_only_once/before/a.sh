#!/bin/bash
set -euo pipefail
pip install transformers accelerate
pip install transformers==4.51
