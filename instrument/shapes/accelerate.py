"""Accelerate: a tracker of Probe's in `log_with`, which `init_trackers`, `log` and `end_training` fan out to.

Read in accelerate 1.15.0: `log_with` takes instances of GeneralTracker beside names, falsy entries raise, and trackers
exist only on the main process and only once `init_trackers` was called. What is logged to a tracker taken out by
`get_tracker` does not fan out: those calls are mirrored, without the keys that `accelerator.log` sends anyway.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from instrument.plan.append import append_argument, append_element
from instrument.plan.bind import repeatable
from instrument.plan.emission import Emission, Tracker, mapping_call
from instrument.plan.mirror import Mirror
from instrument.plan.place import Insertion, argument
from instrument.plan.probe_calls import ProbeCalls
from instrument.plan.rules import Rule
from instrument.shapes._building import ask, class_calls, insert, refuse_shadowed

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

NAME = "accelerate"
ACCELERATORS = ("accelerate.Accelerator", "accelerate.accelerator.Accelerator")
_REASON = "register Probe's tracker; it opens on the main process, with the config that init_trackers gets"
_HANDLES = tuple(f"{a}().get_tracker()" for a in ACCELERATORS)


def plan(context: Context) -> None:
    """Add the tracker where an Accelerator is built, and mirror what goes past it."""
    modules = context.modules(b"accelerate", also=(b"Accelerator(", b"init_trackers", b"get_tracker"))
    built = {
        m.path: [c for c in class_calls(m) if context.program.resolve(m, c.func) & set(ACCELERATORS)] for m in modules
    }
    started = {module.path for module in modules if _calls(context, module, "init_trackers")}
    # A file that starts trackers and builds no Accelerator is handed one by any of the others.
    for_others = any(not built[path] for path in started)
    for module in modules:
        for call in built[module.path]:
            _wire(context, module, call, built[module.path], module.path in started or for_others)
    for module in modules:
        _past_the_tracker(context, module)
        _opened_twice(context, module)


def _calls(context: Context, module: Module, method: str) -> list[ast.Call]:
    wanted = {f"{a}().{method}" for a in ACCELERATORS}
    return [
        call
        for call in module.calls()
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == method
        and context.program.resolve(module, call.func) & wanted
    ]


def _wire(context: Context, module: Module, call: ast.Call, calls: list[ast.Call], started: bool) -> None:
    given = _log_with(module, call)
    if given is None and not started:
        return  # nothing is tracked through this one
    context.found(NAME)
    site = context.site(NAME, "build", module, call, f"{module.code(call.func)}(...)", strategy="register")
    if given is None and not any(keyword.arg is None for keyword in call.keywords):
        # `Accelerator(log_with=...) if args.with_tracking else Accelerator()`: Probe follows the script's own switch.
        function = module.function(call)
        others = [other for other in calls if other is not call and module.function(other) is function]
        if any(_log_with(module, other) is not None for other in others):
            site.outcome, site.why = "left", "trackers are switched off where it is built without log_with"
            return
    if given is not None and any(name in module.code(given) for name in ("ProbeTracker", "with_probe")):
        site.outcome, site.why = "already", "it has Probe's tracker"
        context.opened_elsewhere = True
        return
    if refuse_shadowed(context, module, site):
        return
    if not started:
        ask(
            context, site, "trackers-not-started", "log_with is given but init_trackers is never called: accelerate "
            "itself logs nowhere then, and Probe would get nothing either", "call accelerator.init_trackers(...)",
        )  # fmt: skip
        return
    if any(keyword.arg is None for keyword in call.keywords) and given is None:
        ask(
            context,
            site,
            "hidden-arguments",
            "this Accelerator's arguments are passed on by **: add ProbeTracker() by hand",
        )
        return
    _add(context, module, call, given)
    context.opened_elsewhere = True
    site.outcome, site.why = "covered", "ProbeTracker gets what accelerator.log sends, on the main process"


def _log_with(module: Module, call: ast.Call) -> ast.expr | None:
    return argument(call, None, "log_with") or _in_settings(module, call)


def _in_settings(module: Module, call: ast.Call) -> ast.expr | None:
    """`log_with` in the mapping that a call is given by `**settings`, where one place of the function writes it."""
    names = {k.value.id for k in call.keywords if k.arg is None and isinstance(k.value, ast.Name)}
    found: list[ast.expr] = []
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Assign) or module.function(node) is not module.function(call):
            continue
        target = node.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in names:
            if isinstance(target.slice, ast.Constant) and target.slice.value == "log_with":
                found.append(node.value)
        elif isinstance(target, ast.Name) and target.id in names and isinstance(node.value, ast.Dict):
            pairs = zip(node.value.keys, node.value.values)
            found += [value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "log_with"]
        elif isinstance(target, ast.Name) and target.id in names and isinstance(node.value, ast.Call):
            if isinstance(node.value.func, ast.Name) and node.value.func.id == "dict":
                found += [k.value for k in node.value.keywords if k.arg == "log_with"]
    return found[0] if len(found) == 1 else None


def _add(context: Context, module: Module, call: ast.Call, given: ast.expr | None) -> None:
    def name(which: str) -> str:
        return context.tracking.name(module, which, "accelerate", beside="accelerate", at=call)

    group = f"{module.path}:{module.start(call)}"
    if given is None:
        point = append_argument(module, call, f"log_with={name('ProbeTracker')}()")
        insert(context, module, point, NAME, _REASON)
    elif isinstance(given, ast.List):
        insert(context, module, append_element(module, given, f"{name('ProbeTracker')}()"), NAME, _REASON)
    elif isinstance(given, ast.Constant) and given.value:
        # One name becomes a list of two: the report lists it as replaced.
        text = f"[{module.code(given)}, {name('ProbeTracker')}()]"
        context.edit(module.path, module.start(given), module.end(given), text, reason=_REASON, rule=NAME)
    else:
        insert(context, module, Insertion(module.start(given), f"{name('with_probe')}("), NAME, _REASON, group)
        insert(context, module, Insertion(module.end(given), ")"), NAME, _REASON, group)


# -- what goes past accelerator.log ------------------------------------------------------------------------------------

_MIRRORED = Tracker(
    name=NAME, title="Accelerate", packages=frozenset({"accelerate"}), needles=(), opens={}, emits={},
    closes=frozenset(), parts=("core", "wandb"),
)  # fmt: skip
_read_row = mapping_call(0, ("data", "values"), 1, commit=(2, "commit"))


def _past_the_tracker(context: Context, module: Module) -> None:
    """`run = accelerator.get_tracker("wandb", unwrap=True); run.log(...)`."""
    if not any(b"get_tracker" in other.source.data for other in context.modules(b"get_tracker")):
        return
    wanted = {f"{handle}{inner}.log" for handle in _HANDLES for inner in ("", ".tracker")}
    sent = _keys_sent(context, module)
    mirror = None
    for call in module.calls():
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "log":
            continue
        if not context.program.resolve(module, call.func) & wanted:
            continue
        mirror = mirror or Mirror(context, _MIRRORED, module, "accelerate", ProbeCalls(context, module))
        site = context.site(NAME, "emit", module, call, module.code(call.func), strategy="alongside")
        context.claim(module.path, module.start(call), NAME)
        if mirror.existing.counterpart(call, "log"):
            site.outcome, site.why = "already", "probe.log stands beside it"
            continue
        read = _read_row(context, module, call)
        if not isinstance(read, Emission):
            mirror.ask(site, "unreadable-call", f"{site.what}: {read.why}; Probe does not get these metrics")
            continue
        row = _without(module, call, read, sent)
        if row is None:
            site.outcome, site.why = "left", "accelerator.log sends the same keys"
        elif mirror.log(call, row):
            site.outcome, site.why = "covered", "probe.log gets what accelerator.log does not send"
        else:
            mirror.ask(site, "no-place", f"{site.what} is called where no statement can stand beside it")


def _keys_sent(context: Context, module: Module) -> set[str]:
    keys: set[str] = set()
    for call in _calls(context, module, "log"):
        values = argument(call, 0, "values")
        if isinstance(values, ast.Dict):
            keys.update(str(key.value) for key in values.keys if isinstance(key, ast.Constant))
    return keys


def _without(module: Module, call: ast.Call, emission: Emission, sent: set[str]) -> Emission | None:
    """The emission without keys that reach Probe already: of a key at a step only the first point is kept."""
    row = emission.uses[0].expr
    if not isinstance(row, ast.Dict) or not sent:
        return emission
    kept = [(k, v) for k, v in zip(row.keys, row.values) if not (isinstance(k, ast.Constant) and k.value in sent)]
    if len(kept) == len(row.keys):
        return emission
    if not kept or any(not isinstance(key, ast.Constant) for key, _ in kept):
        return None
    direct = all(repeatable(value) for _, value in kept)

    def text(texts: list[str]) -> str:
        pairs = (
            f"{module.code(key)}: {module.code(value) if direct else f'{texts[0]}[{module.code(key)}]'}"
            for key, value in kept
            if key is not None
        )
        whole = emission.text(["\0", *(texts if direct else texts[1:])])
        return whole.replace("\0", "{" + ", ".join(pairs) + "}", 1)

    uses = emission.uses[1:] if direct else emission.uses
    return Emission(uses=uses, text=text, automatic=emission.automatic)


def _opened_twice(context: Context, module: Module) -> None:
    """W&B opened by hand and by init_trackers: two W&B runs, of which Probe mirrors one."""
    trackers = _calls(context, module, "init_trackers")
    if not trackers or b"wandb.init" not in module.source.data:
        return
    if not any(context.program.resolve(module, call.func) & {"wandb.init"} for call in module.calls()):
        return
    context.note(
        "warning", "opened-twice",
        "W&B is opened by wandb.init and by accelerator.init_trackers: two W&B runs; Probe opens one",
        path=module.path, line=trackers[0].lineno, next="drop one of the two",
    )  # fmt: skip


RULE = Rule(name=NAME, title="Accelerate", needles=(b"accelerate",), plan=plan, order=120)
