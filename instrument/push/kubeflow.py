"""Kubeflow Pipelines: an exit handler, entered first in each pipeline (kfp 2)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan.place import at_top_of
from instrument.plan.rules import Rule
from instrument.push._common import ORDER, TITLES, add, decorators, import_it

if TYPE_CHECKING:
    from instrument.plan.context import Context

_NAMES = frozenset(("kfp.dsl.pipeline", "kfp.dsl.pipeline_context.pipeline"))
_HOOK = "probe_push.kubeflow()"


def plan(ctx: Context) -> None:
    """Enter the handler at the top of each pipeline."""
    for module, function, decorator in decorators(ctx, b"kfp", _NAMES):
        if module.source.kind != "python" or not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        ctx.found(RULE.name)
        site = ctx.site(RULE.name, "launch", module, decorator, "@dsl.pipeline", process=TITLES["kubeflow"])
        code = module.code(function)
        if _HOOK in code:
            site.outcome, site.why = "already", "it has Probe's exit handler"
            continue
        spot = None if "ExitHandler" in code else at_top_of(module, function, [_HOOK])
        if spot is None:
            site.outcome, site.why = "asked", "the pipeline has an exit handler of its own"
            ctx.note(
                "question", "exit-handler-by-hand", "this pipeline has an exit handler of its own", path=module.path,
                line=site.line, next="tell Probe from its exit task by hand, as docs/push.md has it",
            )  # fmt: skip
            continue
        import_it(ctx, module, RULE.name, "kubeflow", "kfp")
        add(ctx, module, spot.offset, spot.text, site, RULE.name)


RULE = Rule(name="kubeflow", title="Kubeflow Pipelines", needles=(b"kfp",), plan=plan, order=ORDER, push=True)
