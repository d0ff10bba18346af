"""Other YAML that carries a tracker's variable: Hydra's `${oc.env:...}` (verl's runtime_env.env_vars) and the like."""

from __future__ import annotations

from instrument.launch._yaml_rules import yaml_rule

RULE = yaml_rule("yaml_env", "Variables in configuration files", "other")
