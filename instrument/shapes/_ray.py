"""Functions that Ray runs in its workers and trials: a run opened at their top, closed on every way out of them.

No exit hook of a worker runs (ray 2.60, Train V2), so a run opened there is closed by the function itself; a function
that raises leaves its run to be found crashed, which it did. Only the first worker of a job opens one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from instrument.plan import place
from instrument.plan.emission import Emission, Tracker, Used, mapping_call
from instrument.plan.mirror import Mirror
from instrument.plan.probe_calls import ProbeCalls
from instrument.shapes._building import ask, refuse_shadowed

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

Function = ast.FunctionDef | ast.AsyncFunctionDef

_read = mapping_call(0, ("metrics",), None)


class Trainables:
    """The functions that a library of Ray's runs elsewhere, by where they are handed to it."""

    def __init__(self, context: Context, name: str, title: str) -> None:
        self.context = context
        self.name = name
        self.mirrors: dict[str, Mirror] = {}
        self.functions: dict[int, tuple[Module, Function]] = {}
        self._opened: set[int] = set()
        self._tracker = Tracker(
            name=name, title=title, packages=frozenset({"ray"}), needles=(), opens={}, emits={}, closes=frozenset(),
            parts=("core", "ray"),
        )  # fmt: skip

    def handed(self, module: Module, expression: ast.expr) -> None:
        """Remember what an expression hands to Ray: a function, also through with_resources and the like."""
        if isinstance(expression, ast.Call):
            for argument in expression.args[:1]:
                self.handed(module, argument)
        for value in self.context.program.resolve(module, expression):
            for owner, definition in self.context.program.entities(value.removesuffix("()")):
                if isinstance(definition, Function) and self.context.repo.editable(owner.path):
                    self.functions[id(definition)] = (owner, definition)

    def mirror(self, module: Module) -> Mirror:
        """What writes into a file."""
        if module.path not in self.mirrors:
            existing = ProbeCalls(self.context, module)
            self.mirrors[module.path] = Mirror(self.context, self._tracker, module, "ray", existing)
        return self.mirrors[module.path]

    def report(self, module: Module, call: ast.Call) -> None:
        """Mirror one `report(...)`, and open a run in the function that Ray runs around it."""
        context = self.context
        site = context.site(
            self.name, "emit", module, call, module.code(call.func), strategy="alongside", process="Ray worker"
        )
        if refuse_shadowed(context, module, site):
            return
        mirror = self.mirror(module)
        around = list(_around(module, call))
        if any(has_tracker(context, module, function) for function in around):
            site.outcome, site.why = "left", "the function logs to a tracker too, and that is mirrored"
            return
        read = _row(context, module, call)
        runs = self._run_by_ray(module, around)
        if read is None:
            ask(context, site, "unreadable-call", f"{site.what}: its arguments are passed on by *")
            return
        if mirror.existing.counterpart(call, "log"):
            site.outcome, site.why = "already", "probe.log stands beside it"
            return
        if not runs:
            ask(context, site, "no-function", f"{site.what} is called outside of a function that Ray is seen to run")
            return
        opened = [self._open(owner, function) for owner, function in runs]
        if not all(opened):
            ask(
                context,
                site,
                "open-by-hand",
                "the function that Ray runs has no place for a run to be opened at its top",
            )
            return
        if mirror.log(call, read):
            site.outcome, site.why = "covered", "probe.log gets the same row; the first worker sends it"
            context.note(
                "warning", "workers-import", "Ray's workers must be able to import the added probe_tracking module: "
                "where they run on other machines, have it in the job's working_dir", path=module.path,
            )  # fmt: skip
        else:
            ask(context, site, "no-place", f"{site.what} is called where no statement can stand beside it")

    def _run_by_ray(self, module: Module, around: list[Function]) -> list[tuple[Module, Function]]:
        """The functions that Ray runs around a call: one that it stands in, or those that call the one it stands in."""
        inside = [(module, f) for f in around if id(f) in self.functions]
        if inside:
            return inside[-1:]
        if not around:
            return []
        if not self.functions and around[-1].args.args and around[-1].args.args[0].arg in ("config", "cfg", "params"):
            return [(module, around[-1])]  # handed over in a way that can't be seen, with the signature that Ray wants
        callers = self.context.program.call_sites(module, around[-1])
        return [
            (owner, function)
            for owner, function in self.functions.values()
            if any(caller.path == owner.path and function in _around(caller, site) for caller, site in callers)
        ]

    def _open(self, module: Module, function: Function) -> bool:
        if id(function) in self._opened:
            return True
        self._opened.add(id(function))
        mirror = self.mirror(module)
        site = self.context.site(
            self.name, "open", module, function, f"def {function.name}", strategy="alongside", process="Ray worker"
        )
        if mirror.existing.counterpart(function.body[-1], "init") or _opens_itself(mirror, function):
            site.outcome, site.why = "already", "it opens Probe's run"
            return True
        parameters = [*function.args.posonlyargs, *function.args.args]
        named = next((p.arg for p in parameters if p.arg not in ("self", "cls")), None)
        config = f"config={named}" if named else ""
        point = place.at_top_of(module, function, [f"{mirror.alias}.init({config})"])
        if point is None:
            return False
        mirror.insert(point, "open Probe's run where Ray runs this; only the first worker opens one")
        for ending in _endings(function):
            close = [f"{mirror.alias}.finish()"]
            end = (
                place.before(module, ending, close) if place.ends_block(ending) else place.after(module, ending, close)
            )
            if end is not None:
                mirror.insert(end, "close the run here: no exit hook runs in Ray's workers")
        site.outcome, site.why = "covered", "the run opens and closes in the process that reports"
        return True


def _row(context: Context, module: Module, call: ast.Call) -> Emission | None:
    """What a report sends: a mapping, or keywords as Tune took them before 2.7 (`report(score=1.0, **more)`)."""
    read = _read(context, module, call)
    if isinstance(read, Emission):
        return read
    if call.args or not call.keywords:
        return None
    given = list(call.keywords)

    def text(texts: list[str]) -> str:
        return "{" + ", ".join(f'"{k.arg}": {t}' if k.arg else f"**{t}" for k, t in zip(given, texts)) + "}"

    return Emission(uses=tuple(Used(k.value, k.arg or "metrics") for k in given), automatic=True, text=text)


def _around(module: Module, node: ast.AST) -> Iterator[Function]:
    """The functions around a node, inside out."""
    function = module.function(node)
    while function is not None:
        if isinstance(function, Function):
            yield function
        function = module.function(function)


def _endings(function: Function) -> Iterator[ast.stmt]:
    """The statements after which a function is left: its returns, and the last one of its body."""
    stack: list[ast.stmt] = list(function.body)
    last = function.body[-1]
    while stack:
        stmt = stack.pop()
        if isinstance(stmt, ast.Return):
            yield stmt
        elif not isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            stack += [inner for suite in place.suites(stmt) for inner in suite]
    if not place.ends_block(last):
        yield last


def _opens_itself(mirror: Mirror, function: Function) -> bool:
    return any(call in set(ast.walk(function)) for call in mirror.existing.by_method.get("init", []))


def has_tracker(context: Context, module: Module, function: Function) -> bool:
    """Whether the function opens or is given a tracker's run itself."""
    opens = {"wandb.init", "ray.air.integrations.wandb.setup_wandb", "mlflow.start_run"}
    return any(
        isinstance(node, ast.Call) and context.program.resolve(module, node.func) & opens
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute))
    )
