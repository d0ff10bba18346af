"""One parsed file as the name resolver sees it: its scopes, what every name is bound to, where every node stands.

Everything here is local to the file: `walk.py` collects it, `resolve.py` gives it meaning.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Function = ast.FunctionDef | ast.AsyncFunctionDef
AnyFunction = Function | ast.Lambda
Definition = Function | ast.ClassDef
Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp

#: What is taken out of a value on its way into a name: an index, an element, what `with` gives, a slice.
Step = int | Literal["iter", "enter", "rest"]

ScopeKind = Literal["module", "function", "class", "comprehension"]

#: module: `import a.b`; from: `from m import x`; value: an expression; annotation: an instance of a type; def: a
#: function or class; param: a parameter; item/merge: something put into a container; opaque: nothing is known.
BindingKind = Literal["module", "from", "value", "annotation", "def", "param", "item", "merge", "opaque"]


@dataclass(slots=True, eq=False)
class Scope:
    """A block of names."""

    kind: ScopeKind
    node: ast.AST
    parent: Scope | None
    #: Qualified name within the file, "" for the module.
    qualname: str = ""
    names: dict[str, list[Binding]] = field(default_factory=dict)
    #: Names that are read or written in this scope (not in nested ones).
    used: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    children: list[Scope] = field(default_factory=list)
    #: For a function: what it returns and yields (`yield from` apart), and what it calls its instance, if a method.
    returns: list[ast.expr] = field(default_factory=list)
    yields: list[ast.expr] = field(default_factory=list)
    delegates: list[ast.expr] = field(default_factory=list)
    generator: bool = False
    self_name: str | None = None
    #: For a class: what its methods put on the instance or class, and into containers there.
    self_attributes: dict[str, list[Binding]] = field(default_factory=dict)
    self_items: dict[str, list[Binding]] = field(default_factory=dict)

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it, inside out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def subtree(self) -> Iterator[Scope]:
        """This scope and all those inside it."""
        stack = [self]
        while stack:
            scope = stack.pop()
            yield scope
            stack += scope.children


@dataclass(slots=True, eq=False)
class Binding:
    """One way a name (or attribute, or item) gets its value."""

    kind: BindingKind
    node: ast.AST
    scope: Scope
    steps: tuple[Step, ...] = ()
    #: For imports: the module as written, its relative level, and the name taken from it.
    dotted: str = ""
    level: int = 0
    name: str = ""
    #: For an item: the key expression, if there is one.
    key: ast.expr | None = None


@dataclass(slots=True)
class Index:
    """What the walk collects beside scopes."""

    parents: dict[ast.AST, ast.AST | None] = field(default_factory=dict)
    #: The scope in which a Name or Call is evaluated.
    scopes: dict[ast.AST, Scope] = field(default_factory=dict)
    #: The scope that a function, class, lambda, comprehension or the module opens.
    inner: dict[ast.AST, Scope] = field(default_factory=dict)
    calls: list[ast.Call] = field(default_factory=list)
    calls_by_name: defaultdict[str, list[ast.Call]] = field(default_factory=lambda: defaultdict(list))
    #: Calls that hand arguments to a function (or anything else) of this name, as `partial(f, x)` does.
    passed: defaultdict[str, list[ast.Call]] = field(default_factory=lambda: defaultdict(list))
    classes_by_base: defaultdict[str, list[ast.ClassDef]] = field(default_factory=lambda: defaultdict(list))
    #: `receiver.attribute = ...` where the receiver is not the method's own instance.
    attributes: defaultdict[str, list[tuple[ast.expr, Binding]]] = field(default_factory=lambda: defaultdict(list))
    attribute_items: defaultdict[str, list[tuple[ast.expr, Binding]]] = field(default_factory=lambda: defaultdict(list))
    name_items: defaultdict[str, list[tuple[Scope, Binding]]] = field(default_factory=lambda: defaultdict(list))
    #: `isinstance(x, T)` by the name or attribute that is asked about.
    narrowed: defaultdict[str, list[ast.Call]] = field(default_factory=lambda: defaultdict(list))
    definitions: list[tuple[str, Definition | ast.Lambda]] = field(default_factory=list)
    stars: list[Binding] = field(default_factory=list)
    #: `from m import f as g`: f -> {g}
    aliases: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def terminal(expression: ast.AST) -> str | None:
    """The last name of a dotted expression: `log` of `wandb.log`, None for anything else."""
    if isinstance(expression, ast.Attribute):
        return expression.attr
    return expression.id if isinstance(expression, ast.Name) else None


def arguments_of(function: AnyFunction) -> list[ast.arg]:
    """A function's parameters, in order, with `*args` and `**kwargs`."""
    given = function.args
    listed = [*given.posonlyargs, *given.args]
    if given.vararg:
        listed.append(given.vararg)
    listed += given.kwonlyargs
    if given.kwarg:
        listed.append(given.kwarg)
    return listed
