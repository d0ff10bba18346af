#!/bin/bash
axolotl train configs/lora.yaml
accelerate launch -m axolotl.cli.train configs/plugins.yml --debug
