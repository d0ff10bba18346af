#!/bin/bash
set -euo pipefail
pip install transformers probe-research accelerate
pip install transformers==4.51
