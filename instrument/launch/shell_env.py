"""Commands in shell scripts that hand a tracker's variables on: docker, srun, sbatch, apptainer, mpirun, ..."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from instrument.launch._cleared import what
from instrument.launch._common import ORDER, covered, readable, record, scripts, settled
from instrument.launch._forward import forward_insertions
from instrument.launch._make import is_makefile, recipes, variables
from instrument.launch._names import NEEDLES, TOKEN, is_credential
from instrument.launch._text import Insertion, Located, stable
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
    located.add(_in_variables(text))
    return located


_OPTION = re.compile(r"(?:^|(?<=\s))(-e |--env |--env=|-e)([A-Z_]+)(?:=[^\s\\]*)?(?=\s|\\|$)", re.MULTILINE)


def _in_variables(text: str) -> Located:
    """`FLAGS = -e WANDB_API_KEY` and what stands between `define` and `endef`."""
    located = Located()
    for start, end in variables(text):
        found = next((m for m in _OPTION.finditer(text, start, end) if is_credential(m[2])), None)
        if found is None:
            continue
        if TOKEN in text[start:end]:
            located.present = True
        else:
            located.insertions.append(Insertion(found.end(), f" {found[1]}{TOKEN}", what(found[2])))
    return located


RULE = Rule(
    name="shell_env", title="Variables handed on by shell commands", needles=NEEDLES, plan=plan, order=ORDER + 10
)
