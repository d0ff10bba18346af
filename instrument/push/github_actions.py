"""GitHub Actions: a last step of each job that trains, run however the job ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.launch._yaml import Node, documents
from instrument.plan.model import Site
from instrument.plan.render import environment
from instrument.plan.rules import Rule
from instrument.push._common import FILE, ORDER, item_last, need, text_of

if TYPE_CHECKING:
    from instrument.plan.context import Context

#: A step that starts training: a file or module of such a name, run by Python or a launcher.
_TRAINS = re.compile(
    r"\b(?:python3?|torchrun|accelerate launch|uv run|deepspeed)\b[^\n]*\b\w*(?:train|finetune|sft|grpo)\w*"
)


def plan(ctx: Context) -> None:
    """Give each job that trains the step."""
    for path in ctx.repo.having(b"runs-on"):
        if not re.fullmatch(r"\.github/workflows/[^/]+\.ya?ml", path):
            continue
        text = text_of(ctx, path)
        for root in documents(text) if text else []:
            jobs = root.get("jobs")
            for name, job in jobs.pairs if jobs else []:
                steps = job.get("steps")
                if (
                    text
                    and steps
                    and any(_TRAINS.search(run.value) for step in steps.items if (run := step.get("run")))
                ):
                    _job(ctx, path, text, name, steps)


def _job(ctx: Context, path: str, text: str, name: Node, steps: Node) -> None:
    ctx.found(RULE.name)
    line = text.count("\n", 0, name.start) + 1
    site = Site(rule=RULE.name, kind="launch", path=path, line=line, what=f"job {name.value}", process="GitHub Actions")
    ctx.plan.sites.append(site)
    if FILE in text[steps.start : steps.end]:
        site.outcome, site.why = "already", "it has Probe's step"
        return
    hook = environment().get_template("push/github_actions.yaml.jinja").render(file=FILE)
    lines = hook.rstrip("\n").split("\n")
    lines = [lines[0].removeprefix("- "), *(line.removeprefix("  ") for line in lines[1:])]
    made = None if steps.flow else item_last(text, steps, lines)
    if made is None:
        site.outcome, site.why = "asked", "the steps are written in one line"
        ctx.note(
            "question", "steps-by-hand", "the steps of this job are not laid out in lines", path=path, line=line,
            next=f"add a last step that runs {FILE}, as docs/push.md has it",
        )  # fmt: skip
        return
    need(ctx, "", "command", RULE.name)
    site.outcome, site.why = "covered", "a last step tells Probe how the job ended"
    ctx.edit(
        path, made[0], made[0], made[1], rule=RULE.name, applicability="review",
        reason="tells Probe how the job ended; can't fail the job",
    )  # fmt: skip


RULE = Rule(name="github_actions", title="GitHub Actions", needles=(b"runs-on",), plan=plan, order=ORDER, push=True)
