"""Training code inside a heredoc of a shell script. It is never edited; the report says where it is.

What a heredoc holds is text to the shell: quoting, `$` and the delimiter decide what Python gets to see, so that an
edit which is right as Python may be wrong as shell.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, scripts
from instrument.launch._shell import Heredoc
from instrument.plan.model import Site
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context

NEEDLES = (b"<<",)
#: Calls that open a run or send metrics, as trackers spell them.
_CALLS = re.compile(
    r"\b(?:wandb|mlflow|trackio|swanlab|aim)\.(?:init|log|log_metrics?|start_run)\b|\bSummaryWriter\s*\("
    r"|\breport_to\s*=|\b(?:\w*Trainer)\s*\("
)
_IMPORT = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)


def plan(ctx: Context) -> None:
    """Ask about heredocs that hold Python with tracker calls."""
    for path, script in scripts(ctx, *NEEDLES):
        source = ctx.repo.source(path)
        for heredoc in script.heredocs:
            call = trains(heredoc)
            if call is None:
                continue
            line = source.line_of(heredoc.start + call.start())
            what = call[0].rstrip("( =\t")
            why = "Python inside a heredoc is not edited: the shell's quoting decides what Python sees"
            ctx.plan.sites.append(
                Site(
                    rule=RULE.name,
                    kind="emit",
                    path=path,
                    line=line,
                    what=what,
                    process="heredoc",
                    outcome="refused",
                    why=why,
                )
            )
            ctx.note(
                "refusal",
                "heredoc",
                f"`{what}` stands in a heredoc of {path.rsplit('/', 1)[-1]} and is left alone: "
                "the shell's quoting decides what Python sees of it",
                path=path,
                line=line,
                next="move the code to a .py file, have the script run that, and plan again",
            )


def trains(heredoc: Heredoc) -> re.Match[str] | None:
    """The first tracker call of a heredoc that holds Python, or None."""
    if not _IMPORT.search(heredoc.body):
        return None
    call = _CALLS.search(heredoc.body)
    if call is None or "probe" in _IMPORT.findall(heredoc.body) or "probe_tracking" in heredoc.body:
        return None
    return call if _is_python(heredoc) else None


def _is_python(heredoc: Heredoc) -> bool:
    if "python" in heredoc.command or re.search(r"\bpython[\d.]*\b[^\n]*<<", heredoc.body):
        return True
    body = heredoc.body if heredoc.quoted else re.sub(r"\$\{?\w+\}?", "_", heredoc.body)
    try:
        ast.parse(body)
    except (SyntaxError, ValueError):
        return False
    return True


RULE = Rule(name="heredoc", title="Python inside heredocs", needles=NEEDLES, plan=plan, order=ORDER)
