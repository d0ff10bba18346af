"""SkyPilot tasks: `envs:` and `secrets:` with a tracker's variable. Empty by default, so that a launch never fails."""

from __future__ import annotations

from instrument.launch._names import TOKEN
from instrument.launch._yaml_rules import yaml_rule

RULE = yaml_rule(
    "skypilot", "SkyPilot tasks", "sky", f"{TOKEN} is empty unless it is given: sky launch --secret {TOKEN} ..."
)
