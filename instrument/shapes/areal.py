"""AReaL (inclusionAI/AReaL): `StatsLogger` calls W&B, SwanLab, trackio and TensorBoard side by side.

Read in areal 1.0.4 and 4aef98d8 (2026-05-21), and v0.3 to v0.5, whose scripts call `commit` themselves. As a fork each
row is sent once, at the step that the class works out itself (`log_step + i`), on the rank that it lets through, with
none of the trackers' modes. `close` runs in `__exit__`, so a crash that passes is recorded as failed. Launchers for
Slurm and Ray build their environment anew and hand no token on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.plan.rules import Rule
from instrument.shapes._building import class_calls
from instrument.shapes._fanouts import inlines, wire_inline
from instrument.shapes._signatures import calls_in, claim, list_builders, of

if TYPE_CHECKING:
    from instrument.plan.context import Context

NAME = "areal"
_IMPORTED = re.compile(rb"\b(?:import|from)\s+areal\b")


def plan(context: Context) -> None:
    """Edit the class where it is in the repository, else say what can't be reached."""
    found = [inline for inline in inlines(context) if of(inline.layer.module, "areal", "realhf")]
    for inline in found:
        context.found(NAME, f"class {inline.layer.node.name}")
        if wire_inline(context, NAME, inline, name="self.config.trial_name"):
            context.note(
                "info", "launcher-token", "AReaL's Slurm and Ray launchers start processes with an environment of "
                "their own: PROBE_TOKEN must be in the launcher's env_vars", path=inline.layer.module.path,
                next="actor.scheduling_spec[].env_vars.PROBE_TOKEN, or the single-controller mode; PROBE_MODE=disabled "
                "leaves Probe off",
            )  # fmt: skip
    if found:
        list_builders(context, NAME, [inline.layer for inline in found])
        _leave_helpers(context)
        return
    for module in context.modules(b"areal", where=_IMPORTED.search):
        for call in class_calls(module):
            names = context.program.resolve(module, call.func)
            if any(name.startswith("areal.") and name.endswith("Trainer") for name in names):
                context.found(NAME, "imported")
                site = context.site(NAME, "build", module, call, module.code(call.func), outcome="asked")
                site.why = "its rows go to the StatsLogger of the installed package"
                context.note(
                    "question", "installed-tracker", f"{site.what}: {site.why}", path=module.path, line=site.line,
                    next="run a clone of AReaL that `instrument apply` has edited, or import the run from W&B",
                )  # fmt: skip
                return


def _leave_helpers(context: Context) -> None:
    """Functions that hand one row to several trackers and that nothing calls: the class gets what is logged."""
    for module in context.modules(b"swanlab.log"):
        for node in module.tree.body:
            called = [module.code(call.func) for call in calls_in(node)]
            if of(module, "areal") and {"wandb.log", "swanlab.log"} <= set(called):
                claim(context, NAME, module, [node])


RULE = Rule(name=NAME, title="AReaL", needles=(b"areal", b"realhf"), plan=plan, order=126)
