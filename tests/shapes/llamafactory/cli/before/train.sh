#!/bin/bash
llamafactory-cli train examples/lora.yaml
