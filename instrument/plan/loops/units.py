"""The program as bodies of code that call each other: functions, methods, and the module level of each file."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from instrument.repo.tree import reversed_children

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

Loop = ast.For | ast.AsyncFor | ast.While
LOOPS = (ast.For, ast.AsyncFor, ast.While)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)


@dataclass(eq=False, slots=True)
class Unit:
    """A function or method, or what a file does at module level (`node` is then its tree)."""

    module: Module
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
    _statements: list[ast.stmt] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The function's name, "" for the module level."""
        return "" if isinstance(self.node, ast.Module) else self.node.name

    @property
    def owner(self) -> ast.ClassDef | None:
        """The class, for a method."""
        return None if isinstance(self.node, ast.Module) else self.module.enclosing_class(self.node)

    @property
    def parameters(self) -> list[str]:
        """The names of what it is given, `self` included."""
        if isinstance(self.node, ast.Module):
            return []
        arguments = self.node.args
        return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]

    @property
    def is_generator(self) -> bool:
        """Whether it yields."""
        return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in inside(self.node.body))

    def statements(self) -> list[ast.stmt]:
        """Every statement of its own, in order; not those of functions inside it."""
        if not self._statements:
            self._statements = [node for node in inside(self.node.body) if isinstance(node, ast.stmt)]
        return self._statements

    def loops(self) -> Iterator[Loop]:
        """Its own loops, outer before inner."""
        return (node for node in self.statements() if isinstance(node, LOOPS))


def inside(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of some statements in source order; functions and classes in them as one node each."""
    stack = list(nodes)[::-1]
    pop, push = stack.pop, stack.append
    while stack:
        node = pop()
        yield node
        if isinstance(node, _SCOPES):
            if not isinstance(node, ast.Lambda):
                stack += node.decorator_list[::-1]
            continue
        for name in reversed_children(type(node)):
            value = getattr(node, name, None)
            if value is None:
                continue
            if type(value) is list:
                stack += [item for item in reversed(value) if item is not None]
            elif isinstance(value, ast.AST):
                push(value)


def last_name(func: ast.expr) -> str:
    """What is called, by its last name: `a.b.c()` is "c"."""
    return func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else ""


def loops_around(module: Module, node: ast.AST, top: ast.AST | None = None) -> list[Loop]:
    """The loops whose body a node is in, inside out, up to `top` (not included) or its function."""
    found: list[Loop] = []
    child, parent = node, module.parent(node)
    while parent is not None and parent is not top and not isinstance(parent, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
        if isinstance(parent, LOOPS) and not any(child is stmt for stmt in parent.orelse):
            if not (isinstance(parent, (ast.For, ast.AsyncFor)) and child is parent.iter):
                found.append(parent)
        child, parent = parent, module.parent(parent)
    return found


class Code:
    """All units of the files that may hold a training loop, and who calls whom.

    Resolving a call is what costs, and few calls of a large program matter: only those whose name is in `focus`.
    """

    def __init__(self, context: Context, modules: Iterable[Module]) -> None:
        self.context = context
        self.modules = list(modules)
        self._units: dict[ast.AST, Unit] = {}
        for module in self.modules:
            self._units[module.tree] = Unit(module, module.tree)
            for _, node in module.definitions:
                if isinstance(node, FUNCTIONS):
                    self._units[node] = Unit(module, node)
        self._focus: frozenset[str] = frozenset()
        self._callees: dict[ast.Call, list[Unit]] = {}

    def focus(self, names: Iterable[str]) -> None:
        """Look at calls of functions of these names only."""
        self._focus = frozenset(names)
        self._callees.clear()
        self.__dict__.pop("callers", None)

    @cached_property
    def called_names(self) -> dict[Unit, set[str]]:
        """The last names of everything that each unit calls."""
        found: dict[Unit, set[str]] = {unit: set() for unit in self._units.values()}
        for module in self.modules:
            for call in module.calls():
                found[self.unit_of(module, call)].add(last_name(call.func))
        return found

    def leading_to(self, names: set[str], rounds: int) -> set[str]:
        """The names, with those of the units that call something of such a name, and so on."""
        known = set(names)
        for _ in range(rounds):
            more = {
                unit.name for unit, called in self.called_names.items() if unit.name and not called.isdisjoint(known)
            }
            if more <= known:
                break
            known |= more
        return known

    @property
    def units(self) -> list[Unit]:
        """In order of file and position; the module level of a file first."""
        return list(self._units.values())

    def unit_of(self, module: Module, node: ast.AST) -> Unit:
        """The unit that a node is part of."""
        function = module.function(node)
        while isinstance(function, ast.Lambda):
            function = module.function(function)
        return self._units[function if function is not None else module.tree]

    def callees(self, module: Module, call: ast.Call) -> list[Unit]:
        """The units that a call may run."""
        if call not in self._callees:
            self._callees[call] = self._find(module, call)
        return self._callees[call]

    def _find(self, module: Module, call: ast.Call) -> list[Unit]:
        func = call.func
        name = last_name(func)
        if not name or (name not in self._focus and (isinstance(func, ast.Attribute) or name not in module.aliases)):
            return []
        found = [self._units[node] for _, node in self.context.program.definitions(module, func) if node in self._units]
        if not found and isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            found = self._by_class(module, func.value.id, name)
        return found

    def _by_class(self, module: Module, receiver: str, name: str) -> list[Unit]:
        """`self.step()` where the resolver says nothing: the method of the class that the call is in."""
        return [
            unit
            for unit in self._units.values()
            if unit.name == name and unit.module is module and receiver == "self" and unit.owner is not None
        ]

    def called_in(self, module: Module, nodes: Iterable[ast.AST]) -> Iterator[tuple[ast.Call, Unit]]:
        """Each call in some statements, with each unit that it may run, in source order.

        A function that is defined among the statements counts as called where it is defined: it is handed on from there.
        """
        for node in inside(nodes):
            if isinstance(node, ast.Call):
                for unit in self.callees(module, node):
                    yield node, unit

    def nested_in(self, nodes: Iterable[ast.AST]) -> Iterator[Unit]:
        """Functions that are defined among some statements (a closure for an optimizer, a callback)."""
        for node in inside(nodes):
            if isinstance(node, FUNCTIONS) and node in self._units:
                yield self._units[node]

    @cached_property
    def callers(self) -> dict[Unit, list[tuple[Unit, ast.Call]]]:
        """Who calls each unit, and where."""
        found: defaultdict[Unit, list[tuple[Unit, ast.Call]]] = defaultdict(list)
        for module in self.modules:
            for call in module.calls():
                for callee in self.callees(module, call):
                    found[callee].append((self.unit_of(module, call), call))
        return found
