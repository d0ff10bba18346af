"""Each sample of a rollout of Miles or slime, where it was asked for: the argument that names the SDK's function.

`--custom-rollout-log-function-path probe.connectors.miles.per_sample_rollout_log` (probe-research 0.337) queues reward,
length and `metadata["probe_metrics"]` of each sample, and returns False. What else is measured of a sample stands in the
arguments that the registration of Probe's backend completes (`shapes/miles.py`). A function that is named there already
stays: Probe's is called first in it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument import sdk
from instrument.launch import _sample_args as arguments
from instrument.launch._common import ORDER, readable, record, scripts, settled
from instrument.launch._shell import read_script
from instrument.launch._text import Located, asked, inserted
from instrument.plan import place
from instrument.plan.rules import Rule

if TYPE_CHECKING:
    from instrument.launch._sample_args import Given
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NEEDLES = (arguments.ANCHOR.encode(), b"rollout_batch_size", b"rollout-batch-size", arguments.FLAG.encode())
_PATH = sdk.MILES_PER_SAMPLE
_FRAMEWORKS = ("miles", "slime")


def plan(ctx: Context) -> None:
    """Name the function wherever a job's arguments are built; say that it exists where nobody asked for it."""
    frameworks = [name for name in _FRAMEWORKS if name in ctx.plan.shapes]
    if not ctx.options.per_sample and not ctx.options.sample_metrics:
        if frameworks:
            ctx.note(
                "info", "per-sample", "each sample of a rollout can be recorded as well; that is off unless asked for",
                next="`--per-sample`, and `--sample-metric NAME=DOTTED.PATH` for what else is measured of a sample",
            )  # fmt: skip
        return
    if not any(
        site.rule in _FRAMEWORKS and site.strategy == "register" and site.outcome in ("covered", "already")
        for site in ctx.plan.sites
    ):
        ctx.note(
            "question", "per-sample-no-backend",
            "samples go the way of Probe's Miles backend, which this plan registers nowhere: nothing would send them",
            next=f"run it where Miles' or slime's tracker is, or where init_tracking is called; the argument is "
            f"{arguments.FLAG} {_PATH}",
        )  # fmt: skip
        return
    places = sum([_shell(ctx), _python(ctx), _yaml(ctx)])
    if not places:
        ctx.note(
            "question", "per-sample-by-hand", "no place was found where the arguments of a job are built",
            next=f"start it with {arguments.FLAG} {_PATH}",
        )  # fmt: skip
        return
    ctx.note(
        "info", "per-sample-needs-sdk",
        "the trainer imports that function itself: probe-research must be installed where its RolloutManager runs, else "
        "the job ends with its first rollout",
    )  # fmt: skip


def _shell(ctx: Context) -> int:
    count = 0
    for path, script in scripts(ctx, *NEEDLES):
        given = arguments.given_in_shell(script)
        if given:
            count += _compose(ctx, path, given)
            continue
        located = Located(arguments.in_shell(script, _PATH))

        def again(text: str) -> Located:
            changed = read_script(text)
            return Located([] if arguments.given_in_shell(changed) else arguments.in_shell(changed, _PATH))

        count += len(located.insertions)
        record(ctx, RULE.name, path, settled(script, located, again), applicability="review", group=f"{path}:samples")
    return count


def _python(ctx: Context) -> int:
    count = 0
    for module in ctx.modules(arguments.ANCHOR.encode(), arguments.FLAG.encode()):
        given = arguments.given_in_python(module)
        if given:
            count += _compose(ctx, module.path, given)
            continue
        for start, end, text in arguments.in_python(module, _PATH):
            count += 1
            ctx.edit(
                module.path, start, end, text, reason=arguments.WHAT, rule=RULE.name, applicability="review",
                group=f"{module.path}:samples",
            )  # fmt: skip
    return count


def _yaml(ctx: Context) -> int:
    count = 0
    for path in ctx.repo.having(*NEEDLES, suffixes=(".yaml", ".yml")):
        source = readable(ctx, path)
        if source is None:
            continue
        given = arguments.given_in_yaml(source.text)
        if given:
            count += _compose(ctx, path, given)
            continue
        located = Located(arguments.in_yaml(source.text, _PATH))
        if located.insertions and not arguments.still_yaml(source.text, inserted(source.text, located.insertions)):
            located = asked(located)
        count += len(located.insertions) + len(located.left)
        record(ctx, RULE.name, path, located, applicability="review", group=f"{path}:samples")
    return count


# -- a function of theirs is named already ---------------------------------------------------------------------------


def _compose(ctx: Context, path: str, given: list[Given]) -> int:
    """Call Probe's function first in each function that is named; ask where it is not one of this repository."""
    for item in given:
        if item.value == _PATH:
            continue
        found = _function(ctx, item.value)
        if found is not None and _call_first(ctx, *found):
            continue
        ctx.note(
            "question", "per-sample-compose",
            f"samples are logged by {item.value}, which can't be seen or changed here: it is kept, and Probe gets none",
            path=path, line=ctx.repo.source(path).line_of(item.offset),
            next=f"call {_PATH}(rollout_id, args, samples, rollout_extra_metrics, rollout_time) first in it",
        )  # fmt: skip
    return len(given)


def _function(ctx: Context, dotted: str) -> tuple[Module, ast.FunctionDef] | None:
    """The function of this repository that a dotted path means, if there is exactly one."""
    name, _, function = dotted.rpartition(".")
    base = name.replace(".", "/")
    ends = (f"{base}.py", f"{base}/__init__.py")
    paths = [p for p in ctx.repo.files if any(p == end or p.endswith(f"/{end}") for end in ends)]
    if not base or len(paths) != 1 or not ctx.repo.editable(paths[0]):
        return None
    for module in ctx.program.parsed(paths):
        node = module.definition(function)
        if isinstance(node, ast.FunctionDef) and len(node.args.posonlyargs + node.args.args) == 5:
            return module, node
    return None


def _call_first(ctx: Context, module: Module, function: ast.FunctionDef) -> bool:
    if "per_sample_rollout_log" in module.code(function):
        return True
    offset = module.start(function)
    if ctx.claimed(module.path, offset) == RULE.name:
        return True  # several launches name it
    if ctx.tracking.shadowed(module) is not None:
        return False
    alias = ctx.tracking.alias(module, "samples")
    names = ", ".join(a.arg for a in (*function.args.posonlyargs, *function.args.args))
    point = place.at_top_of(module, function, [f"{alias}.per_sample_rollout_log({names})"])
    if point is None:
        return False
    ctx.claim(module.path, offset, RULE.name)
    ctx.edit(
        module.path, point.offset, point.offset, point.text, rule=RULE.name, applicability="review",
        reason="queue each sample for Probe as well; the function does and returns what it did",
        group=f"{module.path}:samples",
    )  # fmt: skip
    return True


RULE = Rule(
    name="sample_log", title="Each sample of a rollout (Miles, slime)", needles=NEEDLES, plan=plan, order=ORDER - 5
)
