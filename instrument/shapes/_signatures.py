"""The shapes that trainers' own tracker layers have, whatever their names are.

T1, T2  a class with a list of supported backends that its constructor checks, and `log(data, step)` (verl, rllm;
        SkyRL with one backend at a time)
R2      a module-level mapping of names to tracker classes, and a factory that builds the one that is named (ROLL)

Each is found by its syntax and edited in one place, so that a framework's file and an in-house trainer that is built
the same way are wired by the same code: the first as safe, the second for a person to review. L1 and L2 (facades over
several trackers) are in `_fanouts.py`, H1 (a handle in an attribute) in `_handles.py`, R1 (a registry that a manager
reads) in `miles.py`, F1 (a factory of backend classes) in `torchforge.py`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.edits import Applicability
from instrument.repo.tree import walk
from instrument.shapes._building import refuse_shadowed

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.plan.place import Insertion
    from instrument.repo.names import Module

Function = ast.FunctionDef | ast.AsyncFunctionDef

_LISTS = ("supported_backend", "supported_backends")

_LOG = re.compile(rb"\bdef\s+log\b")
_WHY = "each process that builds it opens a run and sends its rows"


@dataclass(frozen=True, slots=True)
class Layer:
    """A class or module that is a trainer's tracker layer, and its functions by name."""

    module: Module
    node: ast.ClassDef
    methods: dict[str, Function]


@dataclass(slots=True)
class Wiring:
    """The insertions of one layer: written together, or not at all."""

    context: Context
    rule: str
    module: Module
    node: ast.AST
    what: str
    applicability: Applicability = "safe"
    process: str = "where it is built"
    why: str = _WHY
    _points: list[tuple[Insertion | None, str]] = field(default_factory=list)

    def put(self, point: Insertion | None, reason: str) -> None:
        """Add an insertion; None stands for one that has no place."""
        self._points.append((point, reason))

    def write(self, already: bool, fill: Callable[[Wiring], None]) -> bool:
        """Write what `fill` puts, unless the layer is wired, shadowed, or a place is missing. False if asked about."""
        context, module = self.context, self.module
        site = context.site(
            self.rule, "registry", module, self.node, self.what, process=self.process, strategy="register"
        )
        if already:
            site.outcome, site.why = "already", "Probe is called here"
            return True
        if refuse_shadowed(context, module, site):
            return False
        fill(self)
        if not self._points or any(point is None for point, _ in self._points):
            site.outcome, site.why = "asked", "no statement can stand where Probe's calls would"
            context.note(
                "question", "register-by-hand", f"{self.what}: {site.why}", path=module.path, line=site.line,
                next="call probe.init, probe.log and probe.finish here by hand",
            )  # fmt: skip
            return False
        for point, reason in self._points:
            assert point is not None
            context.edit(
                module.path, point.offset, point.offset, point.text, reason=reason, rule=self.rule,
                applicability=self.applicability, group=f"{module.path}:{self.rule}",
            )  # fmt: skip
        site.outcome, site.why = "covered", self.why
        return True


# -- helpers -----------------------------------------------------------------------------------------------------------


def of(module: Module, *roots: str) -> bool:
    """Whether a file belongs to one of these packages."""
    return bool(set(roots) & set(module.path.removesuffix(".py").split("/")))


def parameters(function: Function) -> list[str]:
    """The names of a function's parameters, without its receiver."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def methods_of(node: ast.ClassDef) -> dict[str, Function]:
    """The functions that a class defines, by name."""
    return {item.name: item for item in node.body if isinstance(item, Function)}


def classes(module: Module) -> Iterator[Layer]:
    """Every top-level class of a file."""
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef):
            yield Layer(module, node, methods_of(node))


def calls_in(function: ast.AST) -> Iterator[ast.Call]:
    """The calls in a function."""
    for node in walk(function):
        if isinstance(node, ast.Call):
            yield node


def at_end(module: Module, function: Function, lines: list[str]) -> Insertion | None:
    """After everything that a function does; None where it may return before."""
    if any(isinstance(node, ast.Return) and module.function(node) is function for node in walk(function)):
        return None
    last = function.body[-1]
    return place.after(module, last, ["", *lines] if place.is_compound(last) else lines)


def below(module: Module, stmt: ast.stmt, lines: list[str]) -> Insertion | None:
    """After a statement, set off from a suite that it ends with."""
    return place.after(module, stmt, ["", *lines] if place.is_compound(stmt) else lines)


def claim(context: Context, rule: str, module: Module, nodes: Iterable[ast.AST] | None = None) -> None:
    """Keep the rules for single trackers off a layer: what it sends to W&B and others goes to Probe once."""
    for call in module.calls() if nodes is None else (c for node in nodes for c in calls_in(node)):
        context.claim(module.path, module.start(call), rule)


def mentions_probe(node: ast.AST) -> bool:
    """Whether something in a piece of code is called by one of the names of Probe's module."""
    return any(isinstance(n, ast.Name) and n.id in ("probe", "probe_sdk", "probe_run") for n in walk(node))


def list_builders(
    context: Context, rule: str, layers: list[Layer], why: str = "the class opens Probe's run itself"
) -> None:
    """List the places that build a class, so that the report shows what is covered."""
    names = {layer.node.name for layer in layers}
    nodes = {id(layer.node) for layer in layers}
    for module in context.modules(*(f"{name}(".encode() for name in names)):
        for call in module.calls():
            func = call.func
            if isinstance(func, ast.Name | ast.Attribute) and module.code(func).rsplit(".", 1)[-1] in names:
                owner = context.program.definition(module, func)
                if owner is not None and id(owner[1]) in nodes:
                    context.site(
                        rule, "open", module, call, module.code(func), process=process_of(module, call),
                        strategy="register", outcome="covered", why="the class opens Probe's run itself",
                    )  # fmt: skip


def process_of(module: Module, node: ast.AST) -> str:
    """The interpreter that a place runs in, as far as the file shows."""
    owner = module.enclosing_class(node)
    remote = owner is not None and any("ray.remote" in module.code(d) for d in owner.decorator_list)
    return f"Ray actor {owner.name}" if owner is not None and remote else "where it is called"


def opening(context: Context, alias: str, name: str | None, config: str | None) -> str:
    """`probe.init(...)` with what the person asked for, a name and a config."""
    asked = context.options
    given = [f"{key}={value!r}" for key in ("project", "experiment", "question") if (value := getattr(asked, key))]
    if asked.name or name:
        given.append(f"name={asked.name!r}" if asked.name else f"name={name}")
    if config:
        given.append(f"config={config}")
    return f"{alias}.init({', '.join(given)})"


# -- T1, T2: a class that checks backends against a list ---------------------------------------------------------------


def tracking_classes(context: Context) -> list[Layer]:
    """Classes with a list of supported backends and `log(data, step)`."""
    found = []
    for module in context.modules(b"supported_backend"):
        for layer in classes(module):
            assigned = [s for s in layer.node.body if isinstance(s, ast.Assign | ast.AnnAssign)]
            targets = [t for s in assigned for t in (s.targets if isinstance(s, ast.Assign) else [s.target])]
            names = {t.id for t in targets if isinstance(t, ast.Name)}
            log = layer.methods.get("log")
            if names & set(_LISTS) and "__init__" in layer.methods and log and {"data", "step"} <= set(parameters(log)):
                found.append(layer)
    return found


def wire_tracking_class(
    context: Context, rule: str, layer: Layer, *, applicability: Applicability = "safe"
) -> bool:  # fmt: skip
    """Send to Probe what the class is given, in each of its methods; claim its trackers."""
    module, methods = layer.module, layer.methods
    wiring = Wiring(context, rule, module, layer.node, layer.node.name, applicability)

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core")
        init, log = methods["__init__"], methods["log"]
        names = parameters(init)
        opened = opening(
            context, alias, "experiment_name" if "experiment_name" in names else None,
            "config" if "config" in names else None,
        )  # fmt: skip
        wiring.put(at_end(module, init, [opened]), "open Probe's run once the other trackers are open")
        commit = ", commit=commit" if "commit" in parameters(log) else ""
        line = f"{alias}.log(data, step=step{commit})"
        # `backend=` sends a row to some of the trackers only.
        lines = ["if backend is None:", f"    {line}"] if "backend" in parameters(log) else [line]
        wiring.put(place.at_top_of(module, log, lines), "send each row that the class is given")
        if "log_exception" in methods:
            failed = place.at_top_of(module, methods["log_exception"], [f'{alias}.finish("failed")'])
            wiring.put(failed, "a crash is recorded as failed, whatever the backend is")
        closer = methods.get("finish") or methods.get("__del__")
        if closer is not None:
            status = '"failed" if exit_code else None' if "exit_code" in parameters(closer) else ""
            closed = place.at_top_of(module, closer, [f"{alias}.finish({status})"])
            wiring.put(closed, "close it where the class closes its trackers")

    done = wiring.write(context.tracking.existing_alias(module) is not None, fill)
    claim(context, rule, module)
    if done and "finish" not in methods and "__del__" in methods:
        context.note(
            "warning", "crash-in-an-actor", f"{layer.node.name} closes its trackers when collected: a crash inside "
            "a Ray actor is recorded as completed, by Probe as by the others", path=module.path, line=layer.node.lineno,
            next="close it in a `finally` of the function that builds it",
        )  # fmt: skip
    for name, method in methods.items():
        if "table" in name and done:
            context.note(
                "info", "tables-stay", f"{layer.node.name}.{name}: tables of samples stay with the other trackers",
                path=module.path, line=method.lineno,
            )  # fmt: skip
    return done


# -- R2: a mapping of names to tracker classes, and a factory ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Registry:
    """A module-level mapping of names to tracker classes, and the function that builds the one that is named."""

    module: Module
    name: str
    factory: ast.FunctionDef
    #: The returns of the factory that hand out a tracker.
    returns: list[ast.Return]


def registries(context: Context) -> list[Registry]:
    """Mappings of names to classes with `log(values, step)`, read by a factory."""
    found = []
    for module in context.modules(b"def log(", where=_several_logs):
        loggers = {layer.node.name for layer in classes(module) if _is_logger(layer)}
        for name in sorted(_filled_with(module, loggers)) if len(loggers) > 1 else ():
            for function in module.tree.body:
                if not isinstance(function, ast.FunctionDef):
                    continue
                reads = any(
                    isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id == name
                    for n in walk(function)
                )
                returns = [n for n in walk(function) if isinstance(n, ast.Return) and isinstance(n.value, ast.Call)]
                if reads and returns:
                    found.append(Registry(module, name, function, returns))
    return found


def _several_logs(data: bytes) -> bool:
    """Whether a file defines `log` more than once."""
    return len(_LOG.findall(data)) > 1


def _is_logger(layer: Layer) -> bool:
    """Whether a class has `log(row, step)`."""
    log = layer.methods.get("log")
    return log is not None and len(names := parameters(log)) > 1 and names[1] == "step"


def _filled_with(module: Module, names: set[str]) -> set[str]:
    """The module-level mappings that hold at least two of these classes."""
    held: dict[str, set[str]] = {}
    for stmt in module.tree.body:
        if not isinstance(stmt, ast.Assign | ast.AnnAssign) or stmt.value is None:
            continue
        targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
        for target in targets:
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                if isinstance(stmt.value, ast.Name) and stmt.value.id in names:
                    held.setdefault(target.value.id, set()).add(stmt.value.id)
            elif isinstance(target, ast.Name) and isinstance(stmt.value, ast.Dict):
                inside = {v.id for v in stmt.value.values if isinstance(v, ast.Name)} & names
                held.setdefault(target.id, set()).update(inside)
    return {name for name, inside in held.items() if len(inside) > 1}


def wire_registry(
    context: Context, rule: str, found: Registry, *, name: str | None = None, row: str | None = None,
    applicability: Applicability = "safe",
) -> bool:  # fmt: skip
    """Open a run in the factory and hand out trackers that send their rows to Probe too.

    One name is chosen there: an entry for Probe would have to replace the tracker that a config asks for.
    """
    module, factory = found.module, found.factory
    wiring = Wiring(
        context, rule, module, factory, f"{factory.name}, {found.name}", applicability,
        why="whatever tracker is chosen sends its rows to Probe too",
    )  # fmt: skip

    def fill(wiring: Wiring) -> None:
        alias = context.tracking.alias(module, "core", "adapter")
        config = next((p for p in parameters(factory) if p in ("config", "cfg", "args")), None)
        line = opening(context, alias, name, config)
        wiring.put(place.at_top_of(module, factory, [line]), "open Probe's run where the tracker is built")
        for stmt in found.returns:
            assert stmt.value is not None
            wiring.put(place.Insertion(module.start(stmt.value), f"{alias}.tee("), "send its rows to Probe too")
            tail = f", {row})" if row else ")"
            wiring.put(place.Insertion(module.end(stmt.value), tail), "send its rows to Probe too")

    done = wiring.write(mentions_probe(factory), fill)
    claim(context, rule, module)
    return done
