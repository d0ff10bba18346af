"""The strategy used most: `probe.init()` beside the tracker's opening, `probe.log()` beside each of its calls.

A tracker is data (`emission.Tracker`); this finds its calls through the resolver, decides for each what can be done,
and writes the edits. The same guard, the same process, each expression evaluated once.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.bind import effect_free
from instrument.plan.emission import Ask, Emission, Left, Tracker
from instrument.plan.mirror import Mirror
from instrument.plan.opening import open_beside, settling
from instrument.plan.probe_calls import ProbeCalls
from instrument.plan.tracker_calls import Calls, bound_in_part, find_calls
from instrument.plan.twice import remember, row_of, sent_anywhere, sent_before, sent_by_callers
from instrument.repo.tree import walk

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Site
    from instrument.repo.names import Module


def plan_tracker(context: Context, tracker: Tracker) -> None:
    """Find and wire one tracker in the whole repository."""
    found = [calls for calls in find_calls(context, tracker) if calls or calls.leaves]
    if not any(found):
        if context.modules(*tracker.needles) and found:
            context.note("info", "no-run", f"{tracker.title} is used here, but no run is opened and nothing is logged")
        return
    if not any(calls.opens or calls.emits or calls.unsure or calls.items for calls in found):
        context.note("info", "no-run", f"{tracker.title} is used here, but no run is opened and nothing is logged")
        return
    context.found(tracker.name)
    context.pass_over(
        "register", f"{tracker.title} is called by the repository's own code, not through a framework's registry"
    )
    opened = any(calls.opens for calls in found)
    mirrors = [(calls, mirror) for calls in found if (mirror := _mirror(context, tracker, calls)) is not None]
    # All runs are opened before anything is said of the calls that need one, whatever file each is in.
    for calls, mirror in mirrors:
        for call, opening in calls.opens:
            if context.claim(calls.module.path, calls.module.start(call), tracker.name):
                open_beside(mirror, call, opening)
    sent = any(not isinstance(call.func, ast.Attribute) for calls in found for call, _ in calls.emits)
    sent = sent or any(calls.unsure for calls in found)
    for calls, mirror in mirrors:
        _emit_all(mirror, calls, opened)
        _list_leaves(mirror, calls)
        for value, taker in calls.handed:
            if not sent or bound_in_part(context, calls.module, taker):
                _say_handed_on(mirror, value)
        for call in calls.closes:
            if context.claim(calls.module.path, calls.module.start(call), tracker.name):
                wire_close(mirror, call)


def _mirror(context: Context, tracker: Tracker, calls: Calls) -> Mirror | None:
    """What writes into this file, or None where the file is left alone (its sites then say why)."""
    module = calls.module
    shadow = context.tracking.shadowed(module)
    if shadow is not None:
        _refuse_shadowed(context, tracker, calls, shadow)
        return None
    return Mirror(context, tracker, module, sorted(tracker.packages)[0], ProbeCalls(context, module))


def _refuse_shadowed(context: Context, tracker: Tracker, calls: Calls, shadow: str) -> None:
    module = calls.module
    for call, _ in [*calls.opens, *calls.emits]:
        context.site(
            tracker.name, "emit", module, call, module.code(call.func), outcome="refused",
            why=f"{shadow} shadows the SDK's package `probe`",
        )  # fmt: skip
    context.note(
        "refusal", "probe-shadowed",
        f"{shadow} shadows the SDK: `import probe` would import it instead of probe-research, so {module.path} "
        "is left alone",
        path=shadow, next=f"rename {shadow}, then run `instrument apply` again",
    )  # fmt: skip


def _list_leaves(mirror: Mirror, calls: Calls) -> None:
    """Name what has no counterpart, but for what Probe's run is opened below (`wandb.config.update(args)`)."""
    context, module, tracker = mirror.context, mirror.module, mirror.tracker
    taken = {stmt for call, _ in calls.opens for stmt in settling(context, tracker, module, call)}
    for call, why in calls.leaves:
        if module.statement(call) not in taken or not _settles(mirror, call):
            context.site(
                tracker.name, "emit", module, call, module.code(call.func), outcome="left", why=why
            )  # fmt: skip


def _settles(mirror: Mirror, call: ast.Call) -> bool:
    return bool(mirror.context.program.resolve(mirror.module, call.func) & mirror.tracker.settles)


def _emit_all(mirror: Mirror, calls: Calls, opened: bool) -> None:
    """Mirror what can be read; what can't is looked at last, so that it takes no counterpart from another call."""
    context, module, tracker = mirror.context, mirror.module, mirror.tracker
    found: list[tuple[ast.Call | ast.Assign, Emission | Left | Ask]] = []
    opening = {call for call, _ in calls.opens}
    for call, name in calls.emits:
        if any(part in opening for part in walk(call)):
            found.append((call, Ask("a run is opened among its arguments")))
            continue
        found.append((call, _at_own_step(context, tracker, module, tracker.emits[name](context, module, call))))
    taken = {stmt for call, _ in calls.opens for stmt in settling(context, tracker, module, call)}
    for stmt, name in calls.items:
        read = tracker.items[name](context, module, stmt)
        if not (isinstance(read, Left) and stmt in taken and name in tracker.settles):
            found.append((stmt, _at_own_step(context, tracker, module, read)))
    several = "it may stand for other functions as well, which the tracker does not see"
    found += [(call, Ask(several, "several-functions")) for call in calls.unsure]
    if not opened and context.opened_elsewhere:
        found = [(node, _at_framework_step(context, module, node, read)) for node, read in found]
    found.sort(key=lambda pair: (isinstance(pair[1], Ask), module.start(pair[0])))
    beside = {
        id(node) for node, read in found
        if isinstance(read, Emission) and mirror.existing.counterpart(node, read.method, reach=1)
    }  # fmt: skip
    for node, read in found:
        if context.claim(module.path, module.start(node), tracker.name):
            _emit(mirror, node, read, opened, done=id(node) in beside)


def _at_own_step(
    context: Context, tracker: Tracker, module: Module, read: Emission | Left | Ask
) -> Emission | Left | Ask:
    """Where W&B counts rows as well, another tracker's step is not held against W&B's count."""
    if (
        not isinstance(read, Emission)
        or read.automatic
        or "wandb" in tracker.parts
        or "wandb" not in context.plan.shapes
    ):
        return read
    stepped = ", step=" in read.text([module.code(used.expr) for used in read.uses])
    return replace(read, method="log_each") if stepped and b"sync_tensorboard" not in module.source.data else read


def _emit(
    mirror: Mirror, node: ast.Call | ast.Assign, read: Emission | Left | Ask, opened: bool, *, done: bool
) -> None:
    context, module, tracker = mirror.context, mirror.module, mirror.tracker
    what = module.code(node.func if isinstance(node, ast.Call) else node.targets[0])
    site = context.site(tracker.name, "emit", module, node, what, strategy="alongside")
    if isinstance(read, Left):
        site.outcome, site.why = "left", read.why
        return
    row = row_of(tracker, module, node, read) if isinstance(read, Emission) else None
    twice = sent_by_callers(context, module, node)
    if twice is None and row is not None:
        twice = sent_anywhere(context, row) if tracker.gives_way(module) else sent_before(context, row)
    if twice is not None:
        site.outcome, site.why = "left", twice
        return
    methods = [read.method] if isinstance(read, Emission) else ["log", "log_each"]
    if done or any(mirror.existing.counterpart(node, method) for method in methods):
        site.outcome, site.why = "already", "probe.log stands beside it"
        if row is not None:
            remember(context, row)
        return
    if isinstance(read, Ask):
        mirror.ask(site, read.code, f"{what}: {read.why}; Probe does not get these metrics")
        return
    if not opened and not _joins_open_run(mirror, site, read):
        return
    if isinstance(node, ast.Call) and read.automatic and _one_of_several(mirror, node):
        mirror.ask(
            site, "several-functions",
            f"{what} is called in a loop over several loggers and gives no step: which of them counts is not seen here",
            next="give it a step, or log inside the loggers, then run `instrument apply` again",
        )  # fmt: skip
        return
    if mirror.log(node, read):
        if row is not None:
            remember(context, row)
        site.outcome = "covered"
        site.why = "probe.log gets the same values at the same step"
    else:
        mirror.ask(site, "no-place", f"{what} is called where no statement can stand beside it")


def _at_framework_step(
    context: Context, module: Module, node: ast.Call | ast.Assign, read: Emission | Left | Ask
) -> Emission | Left | Ask:
    """A call without a step, in a method that the framework hands its own step, joins the run at that one."""
    if not isinstance(read, Emission) or not read.automatic or read.method != "log" or not isinstance(node, ast.Call):
        return read
    step = next((found for own in context.own_steps if (found := own(module, node)) is not None), None)
    if step is None:
        return read

    def text(texts: list[str]) -> str:
        row, commit, _ = read.text(texts).rpartition(", commit=")
        return f"{row if commit and place.argument(node, 2, 'commit') else read.text(texts)}, step={step}"

    # `log_each`: W&B's count of rows, which this step has nothing to do with, would hold it back.
    return replace(read, text=text, automatic=False, method="log_each")


def _joins_open_run(mirror: Mirror, site: Site, read: Emission) -> bool:
    """Whether a run that a shape opened takes what is sent here; asks where none does."""
    if not mirror.context.opened_elsewhere:
        mirror.ask(
            site, "no-run-opened",
            f"{site.what} logs here, but no place in this repository opens the run; Probe needs one",
        )  # fmt: skip
        return False
    if read.automatic:
        mirror.ask(
            site, "no-step",
            f"{site.what} gives no step, and the run is one that the framework's callback steps: "
            "without a step of its own this metric would land anywhere on Probe's axis",
            next="give it a step (for example the trainer's global_step), then run `instrument apply` again",
        )  # fmt: skip
        return False
    return True


def _one_of_several(mirror: Mirror, call: ast.Call) -> bool:
    """`for w in writers: w.log(row)` where not every writer is the tracker's."""
    module, func = mirror.module, call.func
    if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Name):
        return False
    found = module.lookup(module.scope_of(func.value, inner=False), func.value.id)
    looped = found is not None and any("iter" in binding.steps for binding in found[1])
    return looped and not mirror.context.program.resolve(module, func) <= mirror.tracker.emits.keys()


def _say_handed_on(mirror: Mirror, value: ast.expr) -> None:
    context, module = mirror.context, mirror.module
    site = context.site(mirror.tracker.name, "emit", module, value, module.code(value), strategy="alongside")
    mirror.ask(
        site, "handed-on",
        f"{site.what} is handed on here as a value; the calls that it gets elsewhere are not seen here, nor by Probe",
        next="send the metrics to Probe where they are logged, or hand on a function that does both",
    )  # fmt: skip


def wire_close(mirror: Mirror, call: ast.Call) -> None:
    """Write `probe.finish` beside a call that closes the tracker's run."""
    module = mirror.module
    site = mirror.context.site(mirror.tracker.name, "close", module, call, module.code(call.func), strategy="alongside")
    if mirror.existing.counterpart(call, "finish"):
        site.outcome, site.why = "already", "probe.finish stands beside it"
        return
    if not any(s.rule == mirror.tracker.name and s.kind == "open" and s.outcome in ("covered", "already")
               for s in mirror.context.plan.sites):  # fmt: skip
        site.outcome, site.why = "left", "Probe's run was not opened beside this tracker's"
        return
    stmt = module.statement(call)
    beside = isinstance(stmt, ast.Expr) and module.parent(call) is stmt
    code = place.argument(call, 0 if mirror.tracker.closes_with_code else None, "exit_code")
    status = ""
    if code is not None and effect_free(code) and not (isinstance(code, ast.Constant) and not code.value):
        status = '"failed"' if isinstance(code, ast.Constant) else f'"failed" if {module.code(code)} else "completed"'
    point = place.after(module, stmt, [f"{mirror.alias}.finish({status})"]) if beside else None
    if point is None:
        site.outcome, site.why = "left", "Probe's run is closed by the next one or when the process ends"
        return
    mirror.insert(point, "close Probe's run where the tracker's is closed")
    site.outcome, site.why = "covered", "probe.finish closes Probe's run in the same place"
