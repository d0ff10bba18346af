#!/bin/bash
set -euo pipefail
pip install torch
