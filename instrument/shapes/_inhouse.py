"""Tracker layers of trainers that nobody has named: the signatures of the known ones, under any names.

T1, T2  a class with a list of names of trackers (one of them a known tracker's) that its constructor checks
R1      a class that builds what a registry holds, by flags that it reads with `getattr(args, flag)`
F1      a class that fills a list in a loop with what a factory of classes gives (`get_sink_class(name)()`)

Either has one method that takes `(row, step)` and sends it on. Probe gets the row there, once, whatever is on.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.repo.tree import walk
from instrument.shapes._signatures import (
    Function,
    Layer,
    Wiring,
    at_end,
    calls_in,
    claim,
    classes,
    mentions_probe,
    opening,
    parameters,
)

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

TRACKERS = frozenset({"wandb", "tensorboard", "mlflow", "swanlab", "trackio", "comet", "neptune", "clearml", "aim"})
LOGS = ("log", "log_metrics", "log_batch", "record", "report", "track", "write", "flush")
CLOSES = ("finish", "close", "stop", "shutdown", "end", "__del__")
_STEP = re.compile(r"step|iter(?:ation)?\Z")


@dataclass(frozen=True, slots=True)
class Found:
    """A layer, what it has, and the methods that open it and send its rows."""

    layer: Layer
    what: str
    opener: Function
    log: Function


def rows(function: Function) -> tuple[str, str] | None:
    """The names of `(row, step)`, a method's first two parameters."""
    names = parameters(function)
    return (names[0], names[1]) if len(names) > 1 and _STEP.search(names[1]) else None


def _log(layer: Layer) -> Function | None:
    """The one method that takes rows."""
    logs = [method for name, method in layer.methods.items() if name in LOGS and rows(method)]
    return logs[0] if len(logs) == 1 and isinstance(logs[0], ast.FunctionDef) else None


def found(context: Context) -> Iterator[Found]:
    """Every layer of these signatures."""
    for module in context.modules(*(f"{quote}{name}{quote}".encode() for name in sorted(TRACKERS) for quote in "\"'")):
        for layer in classes(module):
            init, log = layer.methods.get("__init__"), _log(layer)
            if init is not None and log is not None and _checks_a_list(layer, init):
                yield Found(layer, "a list of trackers that its constructor checks", init, log)
    for module in context.modules(b"getattr(", where=lambda data: b".items()" in data and b"def log" in data):
        for layer in classes(module):
            log = _log(layer)
            opener = next((m for m in layer.methods.values() if _builds_by_flag(module, m)), None)
            if opener is not None and log is not None and any(isinstance(n, ast.For) for n in walk(log)):
                yield Found(layer, "trackers that a registry names by flags", opener, log)
    for module in context.modules(b")()", where=lambda data: b".append(" in data):
        for layer in classes(module):
            log = _log(layer)
            loops = {module.code(n.iter) for n in walk(log) if isinstance(n, ast.For)} if log is not None else set()
            opener = next((m for m in layer.methods.values() if _fills_by_factory(module, m) & loops), None)
            if opener is not None and log is not None:
                yield Found(layer, "a list of trackers that a factory gives", opener, log)


def _fills_by_factory(module: Module, function: Function) -> set[str]:
    """The lists that `for ...: x = get_class(...)(); ...; self.list.append(x)` fills in a function."""
    lists: set[str] = set()
    for loop in walk(function):
        if isinstance(loop, ast.For) and isinstance(function, ast.FunctionDef):
            calls = list(calls_in(loop))
            if any(isinstance(c.func, ast.Call) and module.code(c.func.func).startswith("get_") for c in calls):
                lists |= {
                    module.code(c.func.value) for c in calls
                    if isinstance(c.func, ast.Attribute) and c.func.attr == "append"
                }  # fmt: skip
    return lists


def _checks_a_list(layer: Layer, init: Function) -> bool:
    """Whether a class-level list names a known tracker, and the constructor asks what is in it, to raise."""
    lists = set()
    for stmt in layer.node.body:
        if isinstance(stmt, ast.Assign | ast.AnnAssign) and isinstance(stmt.value, ast.List | ast.Tuple | ast.Set):
            values = {item.value for item in stmt.value.elts if isinstance(item, ast.Constant)}
            targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
            if values & TRACKERS:
                lists |= {target.id for target in targets if isinstance(target, ast.Name)}
    for node in walk(init):
        raises = isinstance(node, ast.Assert) or (
            isinstance(node, ast.If) and any(isinstance(stmt, ast.Raise) for stmt in node.body)
        )
        if isinstance(node, ast.Assert | ast.If) and raises:
            for test in walk(node.test):
                if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In | ast.NotIn):
                    held = test.comparators[0]
                    if isinstance(held, ast.Attribute) and held.attr in lists:
                        return True
    return False


def _builds_by_flag(module: Module, function: Function) -> bool:
    """`for name, (cls, flag) in registry.items(): if getattr(args, flag, ...): ... cls()`."""
    for loop in walk(function):
        if not isinstance(loop, ast.For) or not module.code(loop.iter).endswith(".items()"):
            continue
        names = {node.id for node in walk(loop.target) if isinstance(node, ast.Name)}
        calls = list(calls_in(loop))
        reads = any(
            isinstance(c.func, ast.Name) and c.func.id == "getattr" and len(c.args) > 1
            and isinstance(c.args[1], ast.Name) and c.args[1].id in names
            for c in calls
        )  # fmt: skip
        builds = any(isinstance(c.func, ast.Name) and c.func.id in names for c in calls)
        if reads and builds and isinstance(function, ast.FunctionDef):
            return True
    return False


def wire(context: Context, rule: str, item: Found) -> bool:
    """Send to Probe what the layer is given, to review; its trackers are claimed, where they are defined too."""
    module, methods = item.layer.module, item.layer.methods
    wiring = Wiring(context, rule, module, item.layer.node, item.layer.node.name, "review")

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core")
        names = parameters(item.opener)
        name = next((n for n in ("experiment_name", "run_name", "exp_name") if n in names), None)
        config = next((n for n in ("config", "cfg", "args", "hparams") if n in names), None)
        line = opening(context, alias, name, config)
        wiring.put(at_end(module, item.opener, [line]), "open Probe's run once the other trackers are open")
        row, step = rows(item.log) or ("", "")
        commit = ", commit=commit" if "commit" in parameters(item.log) else ""
        sent = place.at_top_of(module, item.log, [f"{alias}.log({row}, step={step}{commit})"])
        wiring.put(sent, "send each row that the class is given, once for all trackers")
        closer = next((methods[n] for n in CLOSES if isinstance(methods.get(n), ast.FunctionDef)), None)
        if closer is not None:
            closed = place.at_top_of(module, closer, [f"{alias}.finish()"])
            wiring.put(closed, "close it with the trackers: as failed while an exception passes")

    done = wiring.write(mentions_probe(item.log), fill)
    claim(context, rule, module)
    claim_classes(context, rule, module)
    return done


def claim_classes(context: Context, rule: str, module: Module) -> None:
    """Keep other rules off the classes of other files that a layer's file names, among them those of its trackers."""
    for node in walk(module.tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            owner = context.program.definition(module, node)
            if owner is not None and isinstance(owner[1], ast.ClassDef) and owner[0].path != module.path:
                methods = {item.name for item in owner[1].body if isinstance(item, Function)}
                if methods & {*LOGS}:
                    claim(context, rule, owner[0], [owner[1]])
