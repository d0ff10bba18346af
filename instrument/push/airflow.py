"""Airflow: a plugin in `plugins/`, whose listener hears of every DAG run (Airflow 2.7 to 3.3); no DAG is edited."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.push._common import FILE, ORDER, TITLES, need

if TYPE_CHECKING:
    from instrument.plan.context import Context

_DAG = frozenset(
    f"{package}.{name}"
    for package in ("airflow", "airflow.models", "airflow.models.dag", "airflow.sdk", "airflow.decorators")
    for name in ("DAG", "dag")
)


def plan(ctx: Context) -> None:
    """Add the plugin beside the folder of the DAGs."""
    for module in ctx.modules(b"airflow"):
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Call) or not ctx.program.resolve(module, node.func) & _DAG:
                continue
            ctx.found(RULE.name)
            site = ctx.site(RULE.name, "launch", module, node, module.code(node.func), process=TITLES["airflow"])
            parts = module.path.split("/")[:-1]
            home = "/".join(parts[: parts.index("dags")]) if "dags" in parts else ""
            folder = f"{home}/plugins" if home else "plugins"
            site.outcome = "already" if f"{folder}/{FILE}" in ctx.repo.files else "covered"
            site.why = f"Airflow's plugin folder ({folder}) has the listener that tells Probe of each DAG run"
            need(ctx, folder, "airflow", RULE.name)


RULE = Rule(name="airflow", title="Airflow", needles=(b"airflow",), plan=plan, order=ORDER, push=True)
