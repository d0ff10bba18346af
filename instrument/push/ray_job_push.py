"""Ray jobs that Python code submits: a poller beside the program follows each until it ends (Ray 2)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan.place import after
from instrument.plan.rules import Rule
from instrument.push._common import ORDER, TITLES, add, import_it

if TYPE_CHECKING:
    from instrument.plan.context import Context

_CLIENTS = frozenset(
    ("ray.job_submission.JobSubmissionClient()", "ray.dashboard.modules.job.sdk.JobSubmissionClient()")
)


def plan(ctx: Context) -> None:
    """Follow each job that is submitted and whose id is kept."""
    for module in ctx.modules(b"submit_job"):
        for call in module.calls():
            if not (isinstance(call.func, ast.Attribute) and call.func.attr == "submit_job"):
                continue
            if not ctx.program.resolve(module, call.func.value) & _CLIENTS:
                continue
            ctx.found("ray_job_push", "submit_job")
            site = ctx.site("ray_job_push", "launch", module, call, module.code(call.func), process=TITLES["ray_job"])
            stmt = module.statement(call)
            client = module.code(call.func.value)
            named = isinstance(stmt, ast.Assign) and stmt.value is call and isinstance(stmt.targets[0], ast.Name)
            target = (
                stmt.targets[0].id
                if named and isinstance(stmt, ast.Assign) and isinstance(stmt.targets[0], ast.Name)
                else ""
            )
            text = f"probe_push.ray({client}, {target})"
            if target and text in module.source.text:
                site.outcome, site.why = "already", "it is followed"
                continue
            spot = (
                after(module, stmt, [text])
                if target and isinstance(call.func.value, (ast.Name, ast.Attribute))
                else None
            )
            if spot is None:
                site.outcome, site.why = "asked", "the job's id is not kept in a name"
                ctx.note(
                    "question", "job-not-kept", "the id of this job is not kept in a name, so that nothing can follow it",
                    path=module.path, line=site.line, next="keep it, and add probe_push.ray(client, job_id) by hand",
                )  # fmt: skip
                continue
            import_it(ctx, module, "ray_job_push", "ray_job", "ray")
            add(ctx, module, spot.offset, spot.text, site, "ray_job_push")


RULE = Rule(
    name="ray_job_push", title="Ray jobs, followed", needles=(b"submit_job",), plan=plan, order=ORDER, push=True
)
