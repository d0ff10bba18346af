"""Miles (radixark/miles and its forks): a registry of tracking backends that every logging process reads for itself.

Rows are logged by Ray actors, each with a registry of its own, so Probe is registered where `init_tracking` runs. As a
fork the tracker's file is edited, and with it every process that imports it; code that only imports Miles registers
right before each `init_tracking(args)` of its own. Version forms (read at the commits named in `FORMS`, each run with
Ray 2.60): `probe.connectors.miles.register` of probe-research 0.337 knows only the second.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.rules import Rule
from instrument.shapes import _facade

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.model import Site
    from instrument.plan.place import Insertion
    from instrument.repo.names import Module
    from instrument.repo.scopes import AnyFunction

NAME = "miles"

FORMS = {
    "functions": "functions only (until 2026-05-04, and the LLM360 fork)",
    "base": "registry in base.py (507fb3183, 2026-05-05)",
    "tracking": "registry in tracking.py (255f85b6a, 2026-07-20)",
    "groups": "registry in tracking.py, with define_step_key_metric_group (ad21ac17a, 2026-07-21)",
    "imported": "imported; the version is known when it runs",
}

REGISTRY = "BACKEND_REGISTRY"

_TRACKER = re.compile(r"(?:repo:)?miles\.utils\.tracking_utils(?:\.tracking)?\.(init_tracking|log|finish_tracking)")

#: Points of a sample that the SDK sends by itself (reward, response length), and for how many it plans unasked
#: (probe-research 0.337, `_DEFAULT_SAMPLE_METRIC_BUDGET`).
OWN_POINTS, BUDGET = 2, 1_024

_WHY = "every process that imports this module registers Probe for itself, the Ray actors that log among them"


@dataclass(frozen=True, slots=True)
class Fork:
    """A tracker whose source is in the repository, and the function in which Probe is registered."""

    tracker: Module
    form: str
    #: Where `register` goes: `init_tracking`, or the manager's `init` where the registry is in that file.
    module: Module
    function: AnyFunction
    #: The parameter that holds Miles' arguments there.
    args: str


def plan(context: Context) -> None:
    """Register Probe in the tracker's own source where that is in the repository, else before each `init_tracking`."""
    forks = [fork for module in context.modules(b"def init_tracking") if (fork := _fork(context, module))]
    done = {fork.tracker.path for fork in forks if _wire(context, fork)}
    if forks:
        _facade.claim_trackers(context, NAME, [fork.tracker for fork in forks])
    imported = False
    for found in _facade.calls(context, (b"tracking_utils", b"init_tracking"), done, _TRACKER):
        site = found.site(context, NAME)
        if found.function == "init_tracking" and not found.inside:
            imported = True
            _register_before(context, found.module, found.call, site)
        else:
            site.outcome, site.why = "covered", "through the registered backend"
            context.claim(found.module.path, found.module.start(found.call), NAME)
    if imported:
        context.found(NAME, FORMS["imported"])
        _ask_for_actors(context)


# -- the tracker's source is here ------------------------------------------------------------------------------------


def _fork(context: Context, module: Module) -> Fork | None:
    opener = module.definition("init_tracking")
    if not isinstance(opener, ast.FunctionDef) or not opener.args.args or module.definition("log") is None:
        return None
    args = opener.args.args[0].arg
    if module.binds(REGISTRY):
        form = "groups" if module.definition("define_step_key_metric_group") else "tracking"
        return Fork(module, form, module, opener, args)
    manager = _manager(context, module)
    if manager is not None:
        owner, function = manager
        return Fork(module, "base", owner, function, function.args.args[1].arg)
    if "slime" in module.dotted.split("."):
        return None
    return Fork(module, "functions", module, opener, args) if _facade.is_facade(module) else None


def _manager(context: Context, module: Module) -> tuple[Module, ast.FunctionDef] | None:
    """The `init` of the class that the tracker's functions call, where the registry is bound in that class's file."""
    for stmt in module.tree.body:
        if isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Call):
            found = context.program.definition(module, stmt.value.func)
            if found is None or not isinstance(found[1], ast.ClassDef) or not found[0].binds(REGISTRY):
                continue
            for item in found[1].body:
                if isinstance(item, ast.FunctionDef) and item.name == "init" and len(item.args.args) > 1:
                    return found[0], item
    return None


def _wire(context: Context, fork: Fork) -> bool:
    """Edit the tracker's source. False where a person must look first."""
    context.found(NAME, FORMS[fork.form])
    if fork.form == "functions":
        return _facade.wire(context, NAME, fork.tracker)
    module = fork.module
    site = context.site(NAME, "registry", module, fork.function, REGISTRY, process="every process", strategy="register")
    if _registered(module, fork.function):
        site.outcome, site.why = "already", "Probe is registered here"
        say_sample_metrics_missing(context, module, site, fork.function)
        return True
    if _facade.refuse_shadowed(context, NAME, module, site):
        return False
    alias = context.tracking.alias(module, "miles")
    line = f"{alias}.register({fork.args}, {REGISTRY}{settings(context)})"
    point = place.at_top_of(module, fork.function, [line])  # type: ignore[arg-type]
    if point is None:
        site.outcome, site.why = "asked", "no statement can stand at the start of this function"
        context.note("question", "register-by-hand", f"add `{line}` here by hand", path=module.path, line=site.line)
        return False
    _insert(context, module, point, "add Probe's backend to the registry, in every process that opens its trackers")
    site.outcome, site.why = "covered", _WHY
    _facade.say_what_it_needs(context)
    return True


def _registered(module: Module, function: AnyFunction) -> bool:
    """Whether the registry has an entry for Probe, or `register` is called in the function."""
    for stmt in module.tree.body:
        if not isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside = list(ast.walk(stmt))
            named = any(isinstance(node, ast.Name) and node.id == REGISTRY for node in inside)
            if named and any(isinstance(node, ast.Constant) and node.value == "probe" for node in inside):
                return True
    return any(_is_register(node) for node in ast.walk(function))


def _is_register(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return isinstance(node.func, ast.Attribute | ast.Name) and ast.unparse(node.func).split(".")[-1] == "register"


def settings(context: Context) -> str:
    """What the person asked for, as further arguments of `register`."""
    asked = {
        "project": context.options.project, "experiment": context.options.experiment,
        "question": context.options.question, "run_name": context.options.name,
    }  # fmt: skip
    given = {name: repr(value) for name, value in asked.items() if value} | _per_sample(context)
    return "".join(f", {name}={value}" for name, value in given.items())


def _per_sample(context: Context) -> dict[str, str]:
    """A sample's own measurements, which the SDK reads from Miles' arguments in whatever process logs samples."""
    metrics = context.options.sample_metrics
    if not metrics:
        return {}
    given = {"sample_metrics": json.dumps(dict(metrics), ensure_ascii=False)}
    if (points := len(metrics) + OWN_POINTS) > BUDGET:
        given["sample_metric_budget"] = str(points)
    return given


def say_sample_metrics_missing(context: Context, module: Module, site: Site, node: ast.AST) -> None:
    """Where Probe was registered before, without the measurements that are asked for now."""
    given = _per_sample(context)
    code = module.source.text if isinstance(node, ast.Module) else module.code(node)
    if given and "sample_metrics=" not in code:
        arguments = ", ".join(f"{name}={value}" for name, value in given.items())
        context.note(
            "question", "sample-metrics-by-hand",
            f"Probe is registered here already, without the samples' measurements: add {arguments} to that call",
            path=module.path, line=site.line, next="add them by hand, then `instrument check` with the same options",
        )  # fmt: skip


# -- Miles is only imported ------------------------------------------------------------------------------------------


def _register_before(context: Context, module: Module, call: ast.Call, site: Site) -> None:
    stmt = module.statement(call)
    if _stands_before(module, stmt):
        site.outcome, site.why = "already", "Probe is registered before it"
        say_sample_metrics_missing(context, module, site, module.function(stmt) or module.tree)
        return
    if _facade.refuse_shadowed(context, NAME, module, site):
        return
    args = place.argument(call, 0, "args")
    if isinstance(args, ast.Name | ast.Attribute):
        alias = context.tracking.alias(module, "miles", beside="miles")
        line = f"{alias}.register({module.code(args)}{settings(context)})"
        point = place.before(module, stmt, [line])
        if point is not None:
            _insert(context, module, point, "add Probe's backend to this process's registry before Miles reads it")
            site.outcome, site.why = "covered", "registered in this process, right before its trackers are opened"
            _facade.say_what_it_needs(context)
            return
    message = "Probe must be registered right before this call, with the same args object: no statement can stand there"
    site.outcome, site.why = "asked", message
    context.note(
        "question", "register-by-hand", message, path=module.path, line=site.line,
        next="give the arguments a name, then run `instrument apply` again",
    )  # fmt: skip


def _stands_before(module: Module, stmt: ast.stmt) -> bool:
    """Whether `register` is called earlier in the statement's own block or in one around it."""
    current: ast.AST | None = stmt
    while isinstance(current, ast.stmt):
        block, index = module.block(current)
        for earlier in block[:index]:
            if isinstance(earlier, ast.Expr) and _is_register(earlier.value):
                return True
        current = module.parent(current)
        if isinstance(current, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            return False
    return False


def _ask_for_actors(context: Context) -> None:
    """Miles' own actors log as well, from installed code: what reaches them is Ray's setup hook alone."""
    for module in context.modules(b"miles.ray", b"miles.backends"):
        for stmt in ast.walk(module.tree):
            if isinstance(stmt, ast.ImportFrom) and re.match(r"miles\.(?:ray|backends)\b", stmt.module or ""):
                if context.program.path_of(f"repo:{stmt.module}") is not None:
                    continue
                context.note(
                    "question", "miles-actors",
                    "Miles' own Ray actors (RolloutManager, the training actors) log from installed code, with a "
                    "registry of their own: Probe gets nothing from them until it is registered there as well",
                    path=module.path, line=stmt.lineno,
                    next='add "worker_process_setup_hook": "probe_tracking.register" to the runtime_env of ray.init or '
                    "`ray job submit --runtime-env-json`, with the folder of probe_tracking.py in its PYTHONPATH",
                )  # fmt: skip
                return


def _insert(context: Context, module: Module, point: Insertion, reason: str) -> None:
    context.edit(module.path, point.offset, point.offset, point.text, reason=reason, rule=NAME)


RULE = Rule(name=NAME, title="Miles", needles=(b"init_tracking", b"tracking_utils"), plan=plan, order=100)
