#!/bin/bash
ray job submit -- python train.py
ray job submit --address x \
  --working-dir . \
  -- python3 -u train.py
