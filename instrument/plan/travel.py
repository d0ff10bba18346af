"""The names under which a tracker's run travels through a file: what may carry one, by name alone.

What an expression stands for is the resolver's to say, and costs a look at every caller. Which expressions are worth
that is said here, from what is bound, handed over and returned under which name. A name that carries a run anywhere in
a file counts as carrying one everywhere in it: too many rather than too few.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from instrument.repo.module import Module
from instrument.repo.scopes import AnyFunction, Scope, arguments_of, terminal
from instrument.repo.walk import APPLIERS

#: A name, what a call of that name gives, or an argument of it: its position, or "*" where that is not known.
_Place = str | tuple[str, int | str]

#: The run itself.
_RUN: _Place = ("", "run")

#: Calls that give back what they are given, or something made of it.
_PASSING = frozenset(
    "cast closing copy deepcopy dict enter_context enter_async_context enumerate filter get getattr iter list "
    "namedtuple next nullcontext partial reversed set sorted tuple zip SimpleNamespace".split()
)
#: Methods that give what is in the object they are called on.
_TAKING = frozenset("get pop popleft setdefault copy values items __enter__ remote bind options".split())
#: Positions that `*args`, or a base class's constructor, are given one by one.
_MANY = 8
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)


class Travels:
    """What carries a run in one file; `reach` says what it gets from others."""

    def __init__(self, module: Module, is_run: Callable[[Module, ast.expr], bool]) -> None:
        """`is_run` says whether an expression, taken by itself, is the tracker's run or one of its functions."""
        self.module = module
        self._is_run = is_run
        self._reached: set[_Place] = {_RUN}
        self._edges: defaultdict[_Place, set[_Place]] = defaultdict(set)
        for scope in module.scope.subtree():
            self._scope(scope)
        index = module.index
        for found in (index.attributes, index.attribute_items):
            for name, given in found.items():
                for receiver, binding in given:
                    self._flow(binding.node, name, *self._places(receiver))
        for name, items in index.name_items.items():
            for _, binding in items:
                self._flow(binding.node, name)
        for call in module.calls():
            self._call(call)

    def __len__(self) -> int:
        """How much carries a run: it only grows."""
        return len(self._reached)

    def __contains__(self, name: object) -> bool:
        """Whether what has a name, or what a call of that name gives, may be or hold a run."""
        return name in self._reached or (isinstance(name, str) and (name, "()") in self._reached)

    def reach(self, name: str) -> None:
        """A name carries a run, and so does what a call of it gives."""
        self._reach(name)
        self._reach((name, "()"))

    def carries(self, expression: ast.expr) -> bool:
        """Whether an expression may be, or hold, a run."""
        return any(place in self._reached for place in self._places(expression))

    def shared(self) -> set[str]:
        """What other files can import from this one that may carry a run: functions, variables, classes."""
        return {
            name
            for name, bindings in self.module.scope.names.items()
            if name in self and any(binding.kind != "module" for binding in bindings)
        }

    def attributes(self, node: ast.ClassDef) -> set[str]:
        """The attributes, and methods, of a class of this file that may carry a run."""
        scope = self.module.index.inner[node]
        return {name for name in (*scope.self_attributes, *scope.names) if name in self}

    def hand_over(
        self, function: AnyFunction | ast.ClassDef, call: ast.Call | None, carried: Callable[[ast.expr], bool]
    ) -> None:
        """A function or class of this file is called with what carries a run; without a call, any argument may."""
        if isinstance(function, ast.ClassDef):
            scope = self.module.index.inner[function]
            made = next((b.node for b in scope.names.get("__init__", ()) if isinstance(b.node, ast.FunctionDef)), None)
            self._handed(function.name, call, carried)
            if made is None:
                return
            function = made
        method = self.module.index.inner[function].self_name is not None
        names = [argument.arg for argument in arguments_of(function)]
        if call is None:
            for name in names:
                self._reach(name)
            return
        for position, value in enumerate(call.args):
            if carried(value):
                at = position + method
                chosen = names if isinstance(value, ast.Starred) else names[at : at + 1] or names[-1:]
                for name in chosen:
                    self._reach(name)
        for keyword in call.keywords:
            if carried(keyword.value):
                for name in [keyword.arg] if keyword.arg in names else names[-1:] if keyword.arg else names:
                    self._reach(name)

    def _handed(self, name: str, call: ast.Call | None, carried: Callable[[ast.expr], bool]) -> None:
        if call is None:
            self._reach((name, "*"))
            return
        for position, value in enumerate(call.args):
            if carried(value):
                self._reach((name, "*" if isinstance(value, ast.Starred) else position))
        for keyword in call.keywords:
            if carried(keyword.value):
                self._reach(keyword.arg if keyword.arg else (name, "*"))

    # -- what flows where ------------------------------------------------------------------------------------------

    def _link(self, place: _Place, target: _Place) -> None:
        self._edges[place].add(target)
        if place in self._reached:
            self._reach(target)

    def _reach(self, place: _Place) -> None:
        stack = [place]
        while stack:
            current = stack.pop()
            if current not in self._reached:
                self._reached.add(current)
                stack += self._edges.get(current, ())

    def _flow(self, value: ast.AST | None, *targets: _Place) -> None:
        if value is None or type(value) is ast.Constant or not isinstance(value, ast.expr):
            return
        for place in self._places(value):
            for target in targets:
                self._link(place, target)

    def _scope(self, scope: Scope) -> None:
        node = scope.node
        owner = node.name if isinstance(node, ast.ClassDef) else None
        for name, bindings in scope.names.items():
            for binding in bindings:
                if binding.kind in ("value", "item", "merge"):
                    self._flow(binding.node, name, *((owner,) if owner else ()))
                elif binding.kind == "annotation":
                    self._typed(binding.node, name)
                elif binding.kind == "from" and name != binding.name:
                    self._link(binding.name, name)
                    self._link((binding.name, "()"), (name, "()"))
        if isinstance(node, ast.ClassDef):
            self._class(node, scope)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            method = scope.parent is not None and scope.parent.kind == "class"
            given: list[_Place] = [(node.name, "()")]
            if method and scope.parent is not None and isinstance(scope.parent.node, ast.ClassDef):
                given.append(scope.parent.node.name)
            if any(terminal(d) in ("property", "cached_property") for d in node.decorator_list):
                given.append(node.name)
            for value in (*scope.returns, *scope.yields, *scope.delegates):
                self._flow(value, *given)
            self._parameters(node, node.name, method)
            self._defaults(node)

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        for attributes in (scope.self_attributes, scope.self_items):
            for name, bindings in attributes.items():
                for binding in bindings:
                    if binding.kind == "annotation":
                        self._typed(binding.node, name)
                    else:
                        self._flow(binding.node, name, node.name)
        self._link(node.name, (node.name, "()"))
        for base in filter(None, map(terminal, node.bases)):
            self._link(base, node.name)
        made = next((b.node for b in scope.names.get("__init__", ()) if isinstance(b.node, ast.FunctionDef)), None)
        if made is not None:
            self._parameters(made, node.name, True)
            return
        fields = [s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        for position, field in enumerate(fields):
            places: tuple[_Place, _Place] = ((node.name, position), (node.name, "*"))
            for place in places:
                self._link(place, field)
                self._link(place, node.name)
        for base in filter(None, map(terminal, node.bases)):
            for position in range(_MANY):
                self._link((node.name, position), (base, position))
            self._link((node.name, "*"), (base, "*"))

    def _parameters(self, node: AnyFunction, name: str, method: bool) -> None:
        given = arguments_of(node)
        for position, argument in enumerate(given):
            at = position - 1 if method else position
            self._link((name, at), argument.arg)
            self._link((name, position), argument.arg)
            self._link((name, "*"), argument.arg)
        rest = node.args.vararg
        if rest is not None:
            for position in range(_MANY):
                self._link((name, position), rest.arg)

    def _defaults(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for argument in arguments_of(node):
            if argument.annotation is not None:
                self._typed(argument.annotation, argument.arg)
        positional = [*node.args.posonlyargs, *node.args.args]
        for argument, default in zip(reversed(positional), reversed(node.args.defaults)):
            self._flow(default, argument.arg)
        for argument, value in zip(node.args.kwonlyargs, node.args.kw_defaults):
            self._flow(value, argument.arg)

    def _typed(self, annotation: ast.AST, name: str) -> None:
        for node in ast.walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found: str | None = node.value.rpartition(".")[2].strip(" ]'\"")
            else:
                found = terminal(node)
            if found:
                self._link(found, name)

    def _call(self, call: ast.Call) -> None:
        func = call.func
        names = {name for name in (terminal(func), *_behind(func)) if name is not None}
        for position, argument in enumerate(call.args):
            if isinstance(argument, ast.Constant):
                continue
            at = "*" if isinstance(argument, ast.Starred) else position
            for name in names:
                self._flow(argument, (name, at))
        for keyword in call.keywords:
            if keyword.arg is not None:
                self._flow(keyword.value, keyword.arg)
            else:
                for name in names:
                    self._flow(keyword.value, (name, "*"))
        values = [*call.args, *(keyword.value for keyword in call.keywords)]
        if names & APPLIERS or any(keyword.arg == "args" for keyword in call.keywords):
            for taken in filter(None, map(terminal, values)):
                for value in values:
                    self._flow(value, (taken, "*"))

    # -- where a value may come from -------------------------------------------------------------------------------

    def _places(self, expression: ast.AST) -> Iterator[_Place]:
        stack: list[ast.AST] = [expression]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Name | ast.Attribute):
                if self._is_run(self.module, node):
                    yield _RUN
                elif isinstance(node, ast.Name):
                    yield _instance(self.module, node) or node.id
                else:
                    yield node.attr
            elif isinstance(node, ast.Call):
                if self._is_run(self.module, node):
                    yield _RUN
                else:
                    yield from self._of_call(node, stack)
            else:
                stack += _parts(node)

    def _of_call(self, node: ast.Call, stack: list[ast.AST]) -> Iterator[_Place]:
        name = terminal(node.func)
        if name is None:
            stack.append(node.func)
            return
        yield (name, "()")
        for behind in _behind(node.func):
            yield (behind, "()")
        if name in _TAKING and isinstance(node.func, ast.Attribute):
            stack.append(node.func.value)
        if name in _PASSING:
            for value in (*node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(value, ast.Constant):
                    if isinstance(value.value, str):
                        yield value.value
                else:
                    stack.append(value)


def leaves(expression: ast.expr) -> Iterator[ast.expr]:
    """The names, attributes and calls that an expression's value may be, or hold."""
    stack: list[ast.AST] = [expression]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name | ast.Attribute | ast.Call):
            yield node
        else:
            stack += _parts(node)


def _parts(node: ast.AST) -> Iterable[ast.AST]:
    """The parts of an expression that its value may be, or hold."""
    if isinstance(node, ast.Starred | ast.Await | ast.NamedExpr | ast.Subscript | ast.YieldFrom):
        return (node.value,)
    if isinstance(node, ast.Yield):
        return (node.value,) if node.value is not None else ()
    if isinstance(node, ast.IfExp):
        return (node.body, node.orelse)
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    if isinstance(node, _COMPREHENSIONS):
        return (node.elt,)
    if isinstance(node, ast.DictComp):
        return (node.value,)
    return (node.body,) if isinstance(node, ast.Lambda) else ()


def _behind(func: ast.expr) -> Iterator[str]:
    """The class or function behind `Actor.remote`, `Actor.options(...).remote` and `ray.remote(Actor).remote`."""
    while isinstance(func, ast.Attribute) and func.attr in ("remote", "bind", "options"):
        inner = func.value
        if isinstance(inner, ast.Call):
            inner = inner.args[0] if terminal(inner.func) == "remote" and inner.args else inner.func
        name = terminal(inner)
        if name is not None and name not in ("remote", "options"):
            yield name
        func = inner


def _instance(module: Module, node: ast.Name) -> str | None:
    """The class whose own instance a name is (`self`), if it is one."""
    scope = module.index.scopes.get(node)
    for outer in scope.chain() if scope is not None else ():
        if outer.self_name == node.id and outer.parent is not None and isinstance(outer.parent.node, ast.ClassDef):
            return outer.parent.node.name
    return None
