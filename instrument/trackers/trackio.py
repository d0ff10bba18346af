"""trackio (0.1 to 1.x): W&B's calls by another name. A row without a step takes the next one, as at Probe."""

from __future__ import annotations

from instrument.trackers._wandb_like import rule

TRACKER, RULE = rule(
    "trackio", "trackio", metrics=("metrics",), run_name="name", order=230,
    media={
        "save": "files stay with trackio",
        "alert": "alerts have no counterpart",
        **dict.fromkeys(("log_artifact", "use_artifact", "link_artifact"), "files stay with trackio"),
        **dict.fromkeys(("log_system", "log_gpu", "log_cpu"), "Probe watches the machine itself"),
    },
)  # fmt: skip
