"""What inserted code may not do to the code around it: jump, or take a name that is in use.

The scopes that a node was inserted in are given as they were in the original: their names are those the program uses.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)

#: A name, and what tells an import that binds it from another one (None for any other binding).
Binding = tuple[str, "tuple[object, ...] | None"]


class Inserted:
    """Judges what was inserted in one source; what the names of a scope are is found out once."""

    def __init__(self) -> None:
        self._scopes: dict[int, _Scope] = {}

    def check(self, scopes: Sequence[ast.AST], node: ast.AST, fail: Callable[[str], NoReturn]) -> None:
        """Call `fail` with a sentence where a node reaches into the program of its scopes (innermost last)."""
        jump = _jump(node, in_loop=False, caught=False)
        if jump:
            fail(f"inserted code has {jump}, which changes what runs after it")
        updates = _self_updates(node)
        outer = {n for part in ast.walk(node) if isinstance(part, (ast.Global, ast.Nonlocal)) for n in part.names}
        for name, imported in _bindings(node):
            if name == "*":
                fail("an inserted `import *` brings names that can't be known")
            scope = self._scope(scopes[-1])
            if name in updates or (imported and imported in scope.imports):
                continue
            if imported == ("import", name, None) and name not in scope.bound and not hasattr(builtins, name):
                continue  # used but never made: the program can only mean this very module
            if any(name in self._used(scope) for scope in (scopes if name in outer else scopes[-1:])):
                fail(f"an inserted line binds «{name}», which the program uses here")

    def _scope(self, node: ast.AST) -> _Scope:
        if id(node) not in self._scopes:
            self._scopes[id(node)] = _Scope(node)
        return self._scopes[id(node)]

    def _used(self, node: ast.AST) -> set[str]:
        """Every name that code in a scope, or in one inside it that does not have it as its own, has to do with."""
        scope = self._scope(node)
        if scope.used is None:
            # A class's names are not seen from inside its methods.
            inner = [n for n in scope.inner if not isinstance(node, ast.ClassDef) or isinstance(n, ast.ClassDef)]
            scope.used = scope.names.union(*(self._seen_outside(n) for n in inner))
        return scope.used

    def _seen_outside(self, node: ast.AST) -> set[str]:
        """Names in an inner scope that may be those of the scope around it."""
        scope = self._scope(node)
        inside = (self._seen_outside(inner) for inner in scope.inner)
        if isinstance(node, ast.ClassDef):
            return (scope.names - scope.bound).union(*inside)
        return scope.names.union(*inside) - (scope.bound - scope.declared)


class _Scope:
    """The names of one scope, those of scopes inside it left out."""

    def __init__(self, node: ast.AST) -> None:
        self.names: set[str] = set()
        self.bound: set[str] = set()
        #: `global` and `nonlocal`.
        self.declared: set[str] = set()
        self.inner: list[ast.AST] = []
        self.imports: set[tuple[object, ...]] = set()
        self.used: set[str] | None = None
        for part in _in_scope(node):
            names = _names(part)
            self.names.update(names)
            if not (isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)):
                self.bound.update(names)
            if isinstance(part, (ast.Global, ast.Nonlocal)):
                self.declared.update(names)
            elif isinstance(part, (ast.Import, ast.ImportFrom)):
                self.imports.update(imported for _, imported in _imported(part) if imported)
            elif isinstance(part, (*_FUNCTIONS, ast.ClassDef)):
                self.inner.append(part)


# -- jumps


def _jump(node: ast.AST, *, in_loop: bool, caught: bool) -> str | None:
    """What in a node leaves it by another way than its end; None if nothing does."""
    if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom)):
        return f"`{'return' if isinstance(node, ast.Return) else 'yield'}`"
    if isinstance(node, (ast.Break, ast.Continue)):
        return None if in_loop else f"`{type(node).__name__.lower()}`"
    if isinstance(node, (ast.Raise, ast.Assert)):
        return None if caught else f"`{type(node).__name__.lower()}`"
    if isinstance(node, _FUNCTIONS):
        return None
    if isinstance(node, _LOOPS):
        return _jump_in(node.body, True, caught) or _jump_in(node.orelse, in_loop, caught)
    if isinstance(node, ast.Try):
        inner = caught or any(_catches_all(handler) for handler in node.handlers)
        rest = [*node.orelse, *node.finalbody, *(s for handler in node.handlers for s in handler.body)]
        return _jump_in(node.body, in_loop, inner) or _jump_in(rest, in_loop, caught)
    return _jump_in(list(ast.iter_child_nodes(node)), in_loop, caught)


def _jump_in(nodes: list[ast.stmt] | list[ast.AST], in_loop: bool, caught: bool) -> str | None:
    return next((jump for node in nodes if (jump := _jump(node, in_loop=in_loop, caught=caught))), None)


def _catches_all(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or (
        isinstance(handler.type, ast.Name) and handler.type.id in ("Exception", "BaseException")
    )


# -- names


def _bindings(node: ast.AST) -> Iterator[Binding]:
    """Names that a node binds in the scope it stands in, or declares to be of an outer one."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name, None
        outside: list[ast.AST] = [*node.decorator_list]
        if not isinstance(node, ast.ClassDef):
            outside += [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        for child in outside:
            yield from _bindings(child)
        return
    if isinstance(node, ast.Lambda):
        return
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id, None
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from _imported(node)
        return
    elif isinstance(node, ast.alias):  # added to an import of the program's
        yield (node.asname or node.name.split(".")[0]), None
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name, None
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield from ((name, None) for name in node.names)
    elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name, None
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, None
    if isinstance(node, _COMPREHENSIONS):
        # Its own variables stay inside; only an assignment expression gets out.
        yield from ((w.target.id, None) for w in ast.walk(node) if isinstance(w, ast.NamedExpr))
        return
    for child in ast.iter_child_nodes(node):
        yield from _bindings(child)


def _self_updates(node: ast.AST) -> set[str]:
    """Names that are given their own value with something added: `callbacks = [*callbacks, ProbeCallback()]`."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name) and isinstance(part.op, ast.Add):
            found.add(part.target.id)
        elif isinstance(part, ast.Assign) and len(part.targets) == 1 and isinstance(part.targets[0], ast.Name):
            name = part.targets[0].id
            if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(part.value)):
                found.add(name)
    return found


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[Binding]:
    """The names that an import binds, each with what tells whether another import binds the same thing."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, ("from", node.module, node.level, alias.name, alias.asname)
        else:
            top = alias.name if alias.asname else alias.name.split(".")[0]
            yield alias.asname or top, ("import", top, alias.asname)


def _in_scope(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, scopes inside it as one node each (with what is evaluated outside of them)."""
    stack = list(ast.iter_child_nodes(scope))
    if isinstance(scope, _FUNCTIONS):
        stack = [scope.args, *(scope.body if isinstance(scope.body, list) else [scope.body])]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, _FUNCTIONS):
            stack += [*getattr(node, "decorator_list", ()), *node.args.defaults]
            stack += [d for d in node.args.kw_defaults if d is not None]
        elif isinstance(node, ast.ClassDef):
            stack += [*node.decorator_list, *node.bases, *node.keywords]
        else:
            stack += ast.iter_child_nodes(node)


def _names(node: ast.AST) -> tuple[str, ...]:
    """The names that a single node has to do with."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.arg):
        return (node.arg,)
    if isinstance(node, ast.alias):
        return ((node.asname or node.name.split(".")[0]),)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (node.name,)
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return tuple(node.names)
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return (node.name,) if node.name else ()
    if isinstance(node, ast.MatchMapping):
        return (node.rest,) if node.rest else ()
    return ()
