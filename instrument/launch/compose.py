"""docker compose files: `environment:` of a service that names a tracker's variable."""

from __future__ import annotations

from instrument.launch._yaml_rules import yaml_rule

RULE = yaml_rule("compose", "docker compose services", "compose")
