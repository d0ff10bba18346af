#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "wandb",
#   "probe-research>=0.337",
#   "tqdm",
# ]
# ///
import wandb
