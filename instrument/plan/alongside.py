"""The strategy used most: `probe.init()` beside the tracker's opening, `probe.log()` beside each of its calls.

A tracker is data (`emission.Tracker`); this finds its calls through the resolver, decides for each what can be done,
and writes the edits. The same guard, the same process, each expression evaluated once.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.bind import effect_free
from instrument.plan.emission import Ask, Left, Opening, Tracker, terminals
from instrument.plan.mirror import Mirror
from instrument.plan.opening import open_beside
from instrument.plan.probe_calls import ProbeCalls

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module


@dataclass(slots=True)
class Calls:
    """A tracker's calls in one file, in source order, each with the table's answer for it."""

    module: Module
    opens: list[tuple[ast.Call, Opening]] = field(default_factory=list)
    emits: list[tuple[ast.Call, str]] = field(default_factory=list)
    closes: list[ast.Call] = field(default_factory=list)
    leaves: list[tuple[ast.Call, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.opens or self.emits or self.closes)


def plan_tracker(context: Context, tracker: Tracker) -> None:
    """Find and wire one tracker in the whole repository."""
    found = [calls for calls in find_calls(context, tracker) if calls or calls.leaves]
    if not any(found):
        if context.modules(*tracker.needles) and found:
            context.note("info", "no-run", f"{tracker.title} is used here, but no run is opened and nothing is logged")
        return
    if not any(calls.opens or calls.emits for calls in found):
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
    for calls, mirror in mirrors:
        for call, name in calls.emits:
            if context.claim(calls.module.path, calls.module.start(call), tracker.name):
                _emit(mirror, call, name, opened)
        for call in calls.closes:
            if context.claim(calls.module.path, calls.module.start(call), tracker.name):
                wire_close(mirror, call)


def find_calls(context: Context, tracker: Tracker) -> list[Calls]:
    """The tracker's calls in every file that may be edited, and in those that a handle is passed on to."""
    modules = {module.path: module for module in context.modules(*tracker.needles)}
    queue, done = list(modules.values()), []
    names = terminals(tracker)
    handles = {name for name in tracker.opens if tracker.opens[name].gives_handle}
    while queue:
        module = queue.pop(0)
        calls = _calls_in(context, tracker, module, names)
        done.append(calls)
        for other in _reached(context, module, handles) if calls else ():
            if other.path not in modules and context.repo.editable(other.path):
                modules[other.path] = other
                queue.append(other)
    return done


def _calls_in(context: Context, tracker: Tracker, module: Module, names: frozenset[str]) -> Calls:
    calls = Calls(module)
    for call in module.calls():
        func = call.func
        last = func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""
        # A bare name may be an alias of anything that is imported or assigned; an attribute must end as one of the
        # tracker's names does.
        if not last or (isinstance(func, ast.Attribute) and last not in names):
            continue
        if isinstance(func, ast.Name) and last not in names and not _alias(module, last):
            continue
        for name in sorted(context.program.resolve(module, func)):
            if name in tracker.emits:
                calls.emits.append((call, name))
            elif name in tracker.opens:
                calls.opens.append((call, tracker.opens[name]))
            elif name in tracker.closes:
                calls.closes.append(call)
            elif name in tracker.leaves:
                calls.leaves.append((call, tracker.leaves[name]))
            else:
                continue
            break
    return calls


def _alias(module: Module, name: str) -> bool:
    """Whether a bare name could stand for something imported: it is assigned, or imported under another name."""
    return name in module.aliases


def _reached(context: Context, module: Module, handles: set[str]) -> list[Module]:
    """Files whose functions are handed the tracker's run by this one."""
    reached = []
    for call in module.calls():
        given = [*call.args, *(k.value for k in call.keywords)]
        if not any(isinstance(value, (ast.Name, ast.Attribute)) for value in given):
            continue
        definition = None
        for value in given:
            if isinstance(value, (ast.Name, ast.Attribute)):
                resolved = context.program.resolve(module, value)
                if any(name.removesuffix("()") in handles and name.endswith("()") for name in resolved):
                    definition = context.program.definition(module, call.func)
                    break
        if definition is not None and definition[0].path != module.path:
            reached.append(definition[0])
    return reached


def _mirror(context: Context, tracker: Tracker, calls: Calls) -> Mirror | None:
    """What writes into this file, or None where the file is left alone (its sites then say why)."""
    module = calls.module
    for call, why in calls.leaves:
        context.site(tracker.name, "emit", module, call, module.code(call.func), outcome="left", why=why)
    shadow = context.tracking.shadowed(module)
    if shadow is not None:
        _refuse_shadowed(context, tracker, calls, shadow)
        return None
    reason = tracker.yields(context, module)
    if reason is not None:
        for call, _ in [*calls.opens, *calls.emits]:
            context.site(tracker.name, "emit", module, call, module.code(call.func), outcome="left", why=reason)
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


def _emit(mirror: Mirror, call: ast.Call, name: str, opened: bool) -> None:
    context, module, tracker = mirror.context, mirror.module, mirror.tracker
    site = context.site(tracker.name, "emit", module, call, module.code(call.func), strategy="alongside")
    if mirror.existing.counterpart(call, "log"):
        site.outcome, site.why = "already", "probe.log stands beside it"
        return
    read = tracker.emits[name](context, module, call)
    if isinstance(read, Left):
        site.outcome, site.why = "left", read.why
        return
    if isinstance(read, Ask):
        mirror.ask(site, read.code, f"{module.code(call.func)}: {read.why}; Probe does not get these metrics")
        return
    if not opened:
        if not context.opened_elsewhere:
            mirror.ask(
                site, "no-run-opened",
                f"{module.code(call.func)} logs here, but no place in this repository opens the run; Probe needs one",
            )  # fmt: skip
            return
        if read.automatic:
            mirror.ask(
                site, "no-step",
                f"{module.code(call.func)} gives no step, and the run is one that the framework's callback steps: "
                "without a step of its own this metric would land anywhere on Probe's axis",
                next="give it a step (for example the trainer's global_step), then run `instrument apply` again",
            )  # fmt: skip
            return
    if mirror.log(call, read):
        site.outcome = "covered"
        site.why = "probe.log gets the same values at the same step"
    else:
        mirror.ask(site, "no-place", f"{module.code(call.func)} is called where no statement can stand beside it")


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
