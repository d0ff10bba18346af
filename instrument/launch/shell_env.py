"""Commands in shell scripts that hand a tracker's variables on: docker, srun, sbatch, apptainer, mpirun, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING

from instrument.launch._common import ORDER, covered, record, scripts
from instrument.launch._forward import forward_insertions
from instrument.launch._names import NEEDLES
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.plan.context import Context


def plan(ctx: Context) -> None:
    """Hand the token on beside the tracker's variable, by name."""
    if not covered(ctx):
        return
    for path, script in scripts(ctx, *NEEDLES):
        record(ctx, RULE.name, path, forward_insertions(script.text, script))


RULE = Rule(
    name="shell_env", title="Variables handed on by shell commands", needles=NEEDLES, plan=plan, order=ORDER + 10
)
