"""SwanLab: init, log(data, step), finish. A row without a step takes the next one, as at Probe."""

from __future__ import annotations

from instrument.trackers._wandb_like import rule

TRACKER, RULE = rule("swanlab", "SwanLab", metrics=("data",), run_name="experiment_name", order=240, media={})
