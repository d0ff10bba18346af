"""SwanLab: init, log(data, step), finish.

swanlab 0.10.3 (`sdk/internal/run`, `sdk/internal/context`): a row without a step takes the one after the greatest so far.
SwanLab counts such rows from 1, Probe from 0.
"""

from __future__ import annotations

from instrument.trackers._wandb_like import rule

TRACKER, RULE = rule(
    "swanlab", "SwanLab", metrics=("data",), run_name="experiment_name", order=240,
    runs=("swanlab.get_run()", "swanlab.run"), scalar="log_scalar",
    media={
        **dict.fromkeys(
            ("log_text", "log_image", "log_audio", "log_video", "log_echarts", "log_html", "log_object3d",
             "log_molecule"), "media has no counterpart"),
        "save": "files stay with SwanLab",
        "async_log": "what a later function gives can't be mirrored here",
        "define_metric": "axes of SwanLab's own",
    },
)  # fmt: skip
