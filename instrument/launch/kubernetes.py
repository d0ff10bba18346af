"""Kubernetes manifests and Helm values: `env:` lists with a tracker's variable. From a secret, optional."""

from __future__ import annotations

from instrument.launch._names import TOKEN
from instrument.launch._yaml_rules import yaml_rule

RULE = yaml_rule(
    "kubernetes",
    "Kubernetes manifests and Helm values",
    "kubernetes",
    f"the container takes {TOKEN} from the secret named here, once it has that key: "
    f"kubectl create secret generic NAME --from-literal={TOKEN}=...",
)
