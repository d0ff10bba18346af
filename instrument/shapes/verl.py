"""verl (verl-project/verl, before volcengine/verl) and its kin: a class `Tracking` that checks backends against a list.

Where its source is in the repository the class itself is edited: each of its methods goes to Probe as well, in whatever
process builds it. Naming a new backend would need every config and launch command to list it. Code that only imports
verl gets Probe's calls beside its own, since a backend that an installed verl does not know is an AssertionError.
Read in verl 0.4.1, 0.7.1, 0.9.1 and, with one backend at a time, SkyRL 0.3.0.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.alongside import plan_tracker
from instrument.plan.bind import effect_free
from instrument.plan.emission import Opening, Tracker, mapping_call
from instrument.plan.rules import Rule
from instrument.shapes import _facade

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.place import Insertion
    from instrument.repo.names import Module

NAME = "verl"
TRACKING = "verl.utils.tracking.Tracking"
_LISTS = ("supported_backend", "supported_backends")


@dataclass(frozen=True, slots=True)
class Class:
    """A tracking class of the repository, and its methods by name."""

    module: Module
    node: ast.ClassDef
    methods: dict[str, ast.FunctionDef]


def plan(context: Context, tracker: Tracker) -> None:
    """Edit the class where it is in the repository, else log beside each call of it."""
    classes = [found for module in context.modules(b"supported_backend") for found in _classes(module)]
    if not classes:
        plan_tracker(context, tracker)
        return
    for found in classes:
        _wire(context, found)
        for call in found.module.calls():
            context.claim(found.module.path, found.module.start(call), NAME)
    _sites(context, classes)


# -- the class is here -------------------------------------------------------------------------------------------------


def _classes(module: Module) -> list[Class]:
    found = []
    for node in module.tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        names = {t.id for s in node.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
        methods = {s.name: s for s in node.body if isinstance(s, ast.FunctionDef)}
        log = [a.arg for a in methods["log"].args.args] if "log" in methods else []
        if names & set(_LISTS) and "__init__" in methods and {"data", "step"} <= set(log):
            found.append(Class(module, node, methods))
    return found


def _wire(context: Context, found: Class) -> None:
    module, methods = found.module, found.methods
    context.found(NAME, f"class {found.node.name}")
    site = context.site(
        NAME, "registry", module, found.node, found.node.name, process="where it is built", strategy="register"
    )
    if context.tracking.existing_alias(module) is not None:
        site.outcome, site.why = "already", "Probe is called in its methods"
        return
    if _facade.refuse_shadowed(context, NAME, module, site):
        return
    alias = context.tracking.alias(module, "core")
    closer = methods.get("finish") or methods.get("__del__")
    opened = _at_end(module, methods["__init__"], f"{alias}.init({_opened_with(methods['__init__'])})")
    logged = place.at_top_of(module, methods["log"], _logged(alias, methods["log"]))
    closed = place.at_top_of(module, closer, _closed(alias, closer)) if closer is not None else None
    if opened is None or logged is None:
        site.outcome, site.why = "asked", "no statement can stand in these methods"
        return
    _insert(context, module, opened, "open Probe's run once the other trackers are open")
    _insert(context, module, logged, "send each row that the class is given")
    if closed is not None:
        _insert(context, module, closed, "close it where the class closes its trackers")
    site.outcome, site.why = "covered", "each process that builds it opens a run and sends its rows"
    context.note(
        "info", "verl-token",
        "verl builds its tracking in a Ray actor: on a running cluster PROBE_TOKEN reaches it only through the job's "
        "runtime environment",
        path=module.path, line=site.line,
        next="+ray_kwargs.ray_init.runtime_env.env_vars.PROBE_TOKEN=$PROBE_TOKEN; PROBE_MODE=disabled leaves Probe off",
    )  # fmt: skip


def _opened_with(init: ast.FunctionDef) -> str:
    names = {a.arg for a in (*init.args.args, *init.args.kwonlyargs)}
    given = {"name": "experiment_name", "config": "config"}
    return ", ".join(f"{key}={name}" for key, name in given.items() if name in names)


def _at_end(module: Module, init: ast.FunctionDef, line: str) -> Insertion | None:
    """After everything that the constructor does; None where it may return before."""
    if any(isinstance(node, ast.Return) and module.function(node) is init for node in ast.walk(init)):
        return None
    last = init.body[-1]
    return place.after(module, last, ["", line] if place.is_compound(last) else [line])


def _logged(alias: str, log: ast.FunctionDef) -> list[str]:
    names = {a.arg for a in (*log.args.args, *log.args.kwonlyargs)}
    line = f"{alias}.log(data, step=step{', commit=commit' if 'commit' in names else ''})"
    # `backend=` sends a row to some of the trackers only.
    return ["if backend is None:", f"    {line}"] if "backend" in names else [line]


def _closed(alias: str, closer: ast.FunctionDef) -> list[str]:
    takes_code = any(a.arg == "exit_code" for a in closer.args.args)
    status = '"failed" if exit_code else None' if takes_code else ""
    return [f"{alias}.finish({status})"]


def _sites(context: Context, classes: list[Class]) -> None:
    """List the places that build the class, so that the report shows what is covered."""
    names = {found.node.name for found in classes}
    nodes = {id(found.node) for found in classes}
    for module in context.modules(*(f"{name}(".encode() for name in names)):
        for call in module.calls():
            func = call.func
            if isinstance(func, ast.Name | ast.Attribute) and module.code(func).rsplit(".", 1)[-1] in names:
                owner = context.program.definition(module, func)
                if owner is not None and id(owner[1]) in nodes:
                    context.site(
                        NAME, "open", module, call, module.code(func), process=_process(module, call),
                        strategy="register", outcome="covered", why="the class opens Probe's run itself",
                    )  # fmt: skip


def _process(module: Module, call: ast.Call) -> str:
    owner = module.enclosing_class(call)
    remote = owner is not None and any("ray.remote" in module.code(d) for d in owner.decorator_list)
    return f"Ray actor {owner.name}" if owner is not None and remote else "where it is called"


def _insert(context: Context, module: Module, point: Insertion, reason: str) -> None:
    context.edit(
        module.path, point.offset, point.offset, point.text, reason=reason, rule=NAME, group=f"{module.path}:{NAME}"
    )


# -- verl is only imported ---------------------------------------------------------------------------------------------


def _arguments(context: Context, module: Module, call: ast.Call, handle: str | None) -> list[str]:
    given = []
    name, config = place.argument(call, 1, "experiment_name"), place.argument(call, 3, "config")
    if isinstance(config, ast.Call) and module.code(config.func).endswith("to_container") and config.args:
        config = config.args[0]  # Probe reads an OmegaConf config as it is
    if name is not None and effect_free(name):
        given.append(f"name={module.code(name)}")
    if config is not None and (effect_free(config) or isinstance(config, ast.Dict)):
        given.append(f"config={module.code(config)}")
    return given


TRACKER = Tracker(
    name=NAME,
    title="verl's Tracking",
    packages=frozenset({"verl"}),
    needles=(b"verl",),
    opens={TRACKING: Opening(arguments=_arguments, ambient=lambda module, call: "")},
    emits={f"{TRACKING}().log": mapping_call(0, ("data",), 1)},
    closes=frozenset({f"{TRACKING}().finish"}),
    rank=5,
)

RULE = Rule(
    name=NAME, title="verl", needles=(b"verl", b"supported_backend"), plan=partial(plan, tracker=TRACKER), order=120
)
