"""Commands in shell scripts that hand a tracker's variables on: docker, srun, sbatch, apptainer, mpirun, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered, readable, record, scripts, settled
from instrument.launch._forward import forward_insertions
from instrument.launch._make import is_makefile, recipes
from instrument.launch._names import NEEDLES
from instrument.launch._text import Located, stable
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context


def plan(ctx: Context) -> None:
    """Hand the token on beside the tracker's variable, by name."""
    if not covered(ctx):
        return
    for path, script in scripts(ctx, *NEEDLES):
        record(ctx, RULE.name, path, settled(script, forward_insertions(script.text, script), forward_insertions))
    for path in ctx.repo.having(*NEEDLES):
        source = readable(ctx, path) if is_makefile(path) else None
        if source is None:
            continue
        located = stable(source.text, _in_recipes(source.text), _in_recipes)
        record(ctx, RULE.name, path, located)


def _in_recipes(text: str) -> Located:
    located = forward_insertions(recipes(text))
    # In a recipe a dollar for the shell is written twice.
    located.insertions = [item._replace(text=item.text.replace("$", "$$")) for item in located.insertions]
    return located


RULE = Rule(
    name="shell_env", title="Variables handed on by shell commands", needles=NEEDLES, plan=plan, order=ORDER + 10
)
