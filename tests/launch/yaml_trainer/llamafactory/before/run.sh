#!/bin/bash
set -e
llamafactory-cli train train.yaml
accelerate launch -m axolotl.cli.train ax.yml
