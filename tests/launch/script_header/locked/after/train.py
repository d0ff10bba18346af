#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.11"
# dependencies = [
#   "torch",  # big
#   "wandb",
#   "probe-research>=0.337",
# ]
#
# [tool.uv]
# exclude-newer = "2024-10-01T00:00:00Z"
# ///
import wandb
wandb.init()
wandb.log({"a": 1})
