"""open-instruct (allenai/open-instruct): plain W&B, Accelerate's trackers, and OLMo-core's callbacks.

Read at e6c3044a (2026-08-20). GRPO's script calls W&B itself and SFT and DPO log through Accelerate: those are mirrored as
in any repository, and OLMo-core's trainer (`grpo.py`, `dpo.py`) is told of here. Its metrics leave through callbacks of
an installed package that have no counterpart in Probe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._building import class_calls

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "open_instruct"


def plan(context: Context) -> None:
    """Say where OLMo-core's own callbacks send metrics that Probe does not get."""
    for module in context.modules(b"olmo_core"):
        for call in class_calls(module):
            names = context.program.resolve(module, call.func)
            if not any(n.startswith("olmo_core.") and n.endswith((".WandBCallback", ".CometCallback")) for n in names):
                continue
            context.found(NAME, "OLMo-core's callbacks")
            site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", outcome="asked")
            site.why = "OLMo-core's trainer hands its metrics to its own callbacks: Probe does not get them"
            context.note(
                "question", "olmo-core-callback", f"{site.what}: {site.why}", path=module.path, line=site.line,
                next="add a callback whose log_metrics(step, metrics) calls probe.log(metrics, step=step), or import the "
                "run from W&B afterwards",
            )  # fmt: skip


RULE = Rule(name=NAME, title="open-instruct", needles=(b"olmo_core",), plan=plan, order=152)
