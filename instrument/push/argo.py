"""Argo Workflows: an exit handler (`onExit`), a template beside the workflow's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument import sdk
from instrument.launch._yaml import Node, documents, pair_after
from instrument.plan.model import Site
from instrument.plan.render import environment
from instrument.plan.rules import Rule
from instrument.push._common import ORDER, item_last, text_of

if TYPE_CHECKING:
    from instrument.plan.context import Context

_KINDS = {"Workflow": ("spec",), "WorkflowTemplate": ("spec",), "CronWorkflow": ("spec", "workflowSpec")}


def plan(ctx: Context) -> None:
    """Give each workflow the exit handler."""
    for path in ctx.repo.having(b"argoproj.io"):
        text = text_of(ctx, path) if path.endswith((".yaml", ".yml")) else None
        for root in documents(text) if text else []:
            kind = root.get("kind")
            spec = root.get(*_KINDS[kind.value]) if kind and kind.value in _KINDS else None
            if text and spec is not None and "entrypoint" in spec.keys:
                _workflow(ctx, path, text, spec)


def _workflow(ctx: Context, path: str, text: str, spec: Node) -> None:
    ctx.found(RULE.name)
    line = text.count("\n", 0, spec.start) + 1
    site = Site(rule=RULE.name, kind="launch", path=path, line=line, what="Workflow", process="Argo workflow")
    ctx.plan.sites.append(site)
    handler, templates = spec.get("onExit"), spec.get("templates")
    if handler is not None and handler.value == "probe-push":
        site.outcome, site.why = "already", "its exit handler tells Probe"
        return
    lines = (
        environment().get_template("push/argo.yaml.jinja").render(requirement=sdk.REQUIREMENT).rstrip("\n").split("\n")
    )
    lines = [lines[0].removeprefix("- "), *(line.removeprefix("  ") for line in lines[1:])]
    one = two = None
    if handler is None and templates is not None and templates.items and not templates.flow and not spec.flow:
        one = pair_after(text, spec, spec.keys.index("entrypoint"), "onExit", "probe-push")
        two = item_last(text, templates, lines)
    if one is None or two is None:
        site.outcome, site.why = "asked", "it has an exit handler of its own, or a layout that is not edited"
        ctx.note(
            "question", "exit-handler-by-hand", "this workflow has an exit handler of its own, or is not laid out in lines",
            path=path, line=line, next="add the template probe-push of docs/push.md and call it from the exit handler",
        )  # fmt: skip
        return
    site.outcome, site.why = "covered", "its exit handler tells Probe how it ended"
    for offset, added in (one, two):
        ctx.edit(
            path, offset, offset, added, rule=RULE.name, applicability="review", group=f"argo:{path}:{spec.start}",
            reason="tells Probe how the workflow ended",
        )  # fmt: skip


RULE = Rule(name="argo", title="Argo Workflows", needles=(b"argoproj.io",), plan=plan, order=ORDER, push=True)
