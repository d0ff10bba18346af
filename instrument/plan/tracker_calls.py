"""Finding a tracker's calls: in the files that name it, and in those that get its run from one of these.

A run travels: it is returned by a function that another file imports, handed to one as an argument, or kept in an
object. A file is looked at when it could have one; what a call stands for is the resolver's to say.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from instrument.plan.emission import Opening, Tracker, last_part, terminals
from instrument.plan.spread import Spread
from instrument.repo.tree import walk

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

#: Contexts in which a function is only asked about, not handed on.
_LOOKED_AT = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.If, ast.Assert, ast.Expr)


@dataclass(slots=True)
class Calls:
    """A tracker's calls in one file, in source order, each with the table's answer for it."""

    module: Module
    opens: list[tuple[ast.Call, Opening]] = field(default_factory=list)
    emits: list[tuple[ast.Call, str]] = field(default_factory=list)
    closes: list[ast.Call] = field(default_factory=list)
    leaves: list[tuple[ast.Call, str]] = field(default_factory=list)
    #: `run["loss"] = x`, with the name of what is assigned to.
    items: list[tuple[ast.Assign, str]] = field(default_factory=list)
    #: Emitting calls by an expression that may stand for other functions as well (`sink(row)`).
    unsure: list[ast.Call] = field(default_factory=list)
    #: Emitting functions that are handed on as values (`partial(wandb.log, step=3)`), with what takes them.
    handed: list[tuple[ast.expr, ast.AST]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.opens or self.emits or self.closes or self.unsure or self.items)


def find_calls(context: Context, tracker: Tracker) -> list[Calls]:
    """The tracker's calls in every file that may be edited, and in those that a handle is passed on to."""
    finder, spread = _Finder(context, tracker), Spread(context, tracker)
    modules = {module.path: module for module in context.modules(*tracker.needles)}
    for module in modules.values():
        finder.look_for_values(module)
    found: dict[str, Calls] = {}
    fresh = list(modules.values())
    while fresh:
        for module in fresh:
            found[module.path] = finder.calls_in(module)
        if not any(calls or calls.handed for calls in found.values()):
            break
        fresh = spread.reached(modules, fresh)
        modules |= {module.path: module for module in fresh}
    return list(found.values())


class _Finder:
    def __init__(self, context: Context, tracker: Tracker) -> None:
        self._context = context
        self._tracker = tracker
        self._names = terminals(tracker)
        self._emits = frozenset(map(last_part, tracker.emits))
        self._value = re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, self._emits))) + r")\b(?!\s*\()")
        self._containers = {last_part(name) for name in tracker.items}
        #: Whether a run itself has items (`run["loss"] = x`): then any name may stand for one.
        self._run_items = any(name.endswith("()") for name in tracker.items)
        #: Attributes that hold an emitting function: `self.log_fn = wandb.log`.
        self._attributes: set[str] = set()
        #: By file, the emitting functions that are not called where they are named, and what takes them.
        self._values: dict[str, list[tuple[ast.expr, ast.AST]]] = {}
        #: `functools.partial(wandb.log, step=3)` is somewhere: a call of what it gives is not the whole call.
        self._bound_in_part = False

    # -- in one file ----------------------------------------------------------------------------------------------

    def calls_in(self, module: Module) -> Calls:
        """Everything of the tracker's in a file."""
        calls = Calls(module)
        calls.handed += [
            (n, p) for n, p in self.look_for_values(module) if not isinstance(p, (*_LOOKED_AT, ast.Assign))
        ]
        for call in module.calls():
            if self._worth_a_look(module, call.func):
                self._sort(calls, call)
        if self._containers:
            calls.items += self._items(module)
        return calls

    def _worth_a_look(self, module: Module, func: ast.expr) -> bool:
        """Whether a callee could be one of the tracker's names; a bare name may stand for anything."""
        if isinstance(func, ast.Attribute):
            return func.attr in self._names or func.attr in self._attributes
        if isinstance(func, ast.Name):
            return (
                func.id in self._names or _renamed(module, func) or (self._spread() and _holds_something(module, func))
            )
        if isinstance(func, (ast.IfExp, ast.BoolOp, ast.Subscript, ast.Call, ast.NamedExpr)):
            return any(name in module.code(func) for name in self._emits) or isinstance(func, ast.Subscript)
        return False

    def _sort(self, calls: Calls, call: ast.Call) -> None:
        tracker, func = self._tracker, call.func
        resolved = self._context.program.resolve(calls.module, func)
        for name in sorted(resolved):
            if name in tracker.emits:
                plain = isinstance(func, ast.Attribute) and func.attr in self._names
                whole = resolved <= tracker.emits.keys() and not self._bound_in_part
                if plain or whole or _renamed(calls.module, func):
                    calls.emits.append((call, name))
                else:
                    calls.unsure.append(call)
            elif name in tracker.opens:
                calls.opens.append((call, tracker.opens[name]))
            elif name in tracker.closes:
                calls.closes.append(call)
            elif name in tracker.leaves:
                calls.leaves.append((call, tracker.leaves[name]))
            else:
                continue
            return

    def _items(self, module: Module) -> Iterator[tuple[ast.Assign, str]]:
        for node in walk(module.tree):
            if not isinstance(node, ast.Assign) or len(node.targets) != 1:
                continue
            target = node.targets[0]
            if not isinstance(target, (ast.Subscript, ast.Attribute)):
                continue
            last = target.value.attr if isinstance(target.value, ast.Attribute) else ""
            if last not in self._containers and not (self._run_items and isinstance(target, ast.Subscript)):
                continue
            if last == "config" and not re.search(r"run|wandb|wb", module.code(target.value)):
                continue  # `self.config["lr"] = ...` is in every trainer
            resolved = self._context.program.resolve(module, target.value)
            for name in sorted(resolved):
                if name in self._tracker.items:
                    yield node, name
                    break

    def look_for_values(self, module: Module) -> list[tuple[ast.expr, ast.AST]]:
        """The emitting functions that a file names without calling them, each with what it is part of."""
        if module.path not in self._values:
            self._values[module.path] = found = list(self._named(module))
            for _, parent in found:
                self._bound_in_part |= bound_in_part(self._context, module, parent)
                if isinstance(parent, ast.Assign):
                    self._attributes.update(t.attr for t in parent.targets if isinstance(t, ast.Attribute))
        return self._values[module.path]

    def _spread(self) -> bool:
        """Whether an emitting function is named as a value anywhere, so that any name may stand for it."""
        return any(self._values.values())

    def _named(self, module: Module) -> Iterator[tuple[ast.expr, ast.AST]]:
        if not self._value.search(module.text):
            return
        for node in walk(module.tree):
            if not isinstance(node, (ast.Attribute, ast.Name)) or not isinstance(node.ctx, ast.Load):
                continue
            if (node.attr if isinstance(node, ast.Attribute) else node.id) not in self._emits:
                continue
            parent = module.parent(node)
            if (
                parent is None
                or isinstance(parent, ast.Attribute)
                or (isinstance(parent, ast.Call) and parent.func is node)
            ):
                continue
            if self._context.program.resolve(module, node) & self._tracker.emits.keys():
                yield node, parent


#: What a file that logs through a run from elsewhere has in it, whatever the tracker.
EMITTING = (b".log", b".add_scalar", b".track(", b".report_")


def bound_in_part(context: Context, module: Module, taker: ast.AST) -> bool:
    """Whether what takes a function is `functools.partial(...)`."""
    names = {"functools.partial", "functools.partialmethod"}
    return isinstance(taker, ast.Call) and bool(context.program.resolve(module, taker.func) & names)


def _holds_something(module: Module, func: ast.Name) -> bool:
    """Whether a bare name is a parameter, a loop's variable, or was assigned."""
    found = module.lookup(module.scope_of(func, inner=False), func.id)
    if found is None:
        return False
    for binding in found[1]:
        if binding.kind == "param":
            return True
        if binding.kind == "value" and not isinstance(binding.node, (ast.Lambda, ast.Constant)):
            return True
    return False


def _renamed(module: Module, func: ast.expr) -> bool:
    """`from wandb import log as send`, whatever stands in for it where wandb is missing."""
    if not isinstance(func, ast.Name):
        return False
    found = module.lookup(module.scope_of(func, inner=False), func.id)
    return found is not None and any(binding.kind == "from" for binding in found[1])
