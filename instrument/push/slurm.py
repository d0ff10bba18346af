"""Slurm batch scripts: an exit trap below the `#SBATCH` lines, as an epilog of the job itself (Slurm 20 to 24)."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from instrument.plan.model import Site
from instrument.plan.render import environment
from instrument.plan.rules import Rule
from instrument.push._common import FILE, ORDER, need, text_of

if TYPE_CHECKING:
    from instrument.plan.context import Context

_HEADER = re.compile(r"(?m)^#SBATCH[^\n]*$")
_TRAP = re.compile(r"(?m)^\s*trap\b[^\n]*\b(?:EXIT|0)\b")


def plan(ctx: Context) -> None:
    """Give each batch script the trap."""
    for path in ctx.repo.having(b"#SBATCH"):
        text = text_of(ctx, path)
        headers = list(_HEADER.finditer(text)) if text and text.startswith("#!") else []
        if text is None or not headers or not re.match(r"#![^\n]*\b(?:ba|z|k|da)?sh\b", text):
            continue
        ctx.found(RULE.name)
        line = text.count("\n", 0, headers[-1].start()) + 1
        site = Site(rule=RULE.name, kind="launch", path=path, line=line, what="#SBATCH", process="Slurm job")
        ctx.plan.sites.append(site)
        if "probe_push" in text:
            site.outcome, site.why = "already", "it has Probe's trap"
        elif _TRAP.search(text):
            site.outcome, site.why = "asked", "the script has an exit trap of its own"
            ctx.note(
                "question", "trap-of-its-own", "this script has an exit trap, which a second one would replace", path=path,
                line=line, next=f"call python3 {FILE} slurm ID STATUS in it by hand",
            )  # fmt: skip
        else:
            # Jobs are submitted from the repository's top, as far as can be seen: the file lies beside the script.
            made = need(ctx, path.rpartition("/")[0], "command", RULE.name)
            hook = environment().get_template("push/slurm.sh.jinja").render(file=posixpath.normpath(made))
            newline = "\r\n" if "\r\n" in text else "\n"
            offset = headers[-1].end() - (1 if headers[-1][0].endswith("\r") else 0)
            site.outcome, site.why = "covered", "Probe is told how the job ends"
            ctx.edit(
                path, offset, offset, newline + newline.join(hook.rstrip("\n").split("\n")), rule=RULE.name,
                reason="tells Probe how the job ends; its exit code stays", applicability="review",
            )  # fmt: skip


RULE = Rule(name="slurm", title="Slurm batch scripts", needles=(b"#SBATCH",), plan=plan, order=ORDER, push=True)
