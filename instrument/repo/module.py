"""One parsed Python file or notebook: its nodes, statements, functions and names."""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from functools import cached_property

from instrument.repo.scopes import AnyFunction, Binding, Definition, Index, Scope
from instrument.repo.source import PythonSource
from instrument.repo.walk import collect

BUILTINS = frozenset(dir(builtins))
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_BLOCKS = ("body", "orelse", "finalbody")


class Module:
    """A file that parses, with everything that can be said of it alone.

    `path` is relative to the repository, `dotted` the best guess of its import name, `package` whether the folder it
    stands in is a package.
    """

    def __init__(self, path: str, source: PythonSource, dotted: str, package: bool) -> None:
        """Raises SourceError where the source does not decode or parse."""
        self.path = path
        self.source = source
        self.dotted = dotted
        self.package = package
        self.tree: ast.Module = source.tree
        self.scope: Scope
        self.index: Index
        self.scope, self.index = collect(self.tree)

    def __repr__(self) -> str:
        return f"Module({self.path!r})"

    @property
    def text(self) -> str:
        return self.source.text

    def start(self, node: ast.AST) -> int:
        """The offset of a node's first character in `source.text`."""
        return self.source.start(node)

    def end(self, node: ast.AST) -> int:
        """The offset just after a node's last character."""
        return self.source.end(node)

    def code(self, node: ast.AST) -> str:
        """A node's own text."""
        return self.source.code(node)

    # -- where a node stands -----------------------------------------------------------------------------------------

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds this one; None for the tree itself."""
        return self.index.parents.get(node)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that a node is part of, the node itself if it is one.

        Raises ValueError for the tree and for nodes of another file.
        """
        current: ast.AST | None = node
        while current is not None and not isinstance(current, ast.stmt):
            current = self.parent(current)
        if current is None:
            raise ValueError(f"{type(node).__name__} is not inside a statement of {self.path}")
        return current

    def function(self, node: ast.AST) -> AnyFunction | None:
        """The innermost function (def, async def or lambda) whose body a node is in; None at module or class level.

        A function's decorators, defaults and annotations are outside of it, and so is the function itself.
        """
        scope = self.scope_of(node, inner=False)
        for outer in scope.chain():
            if isinstance(outer.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                return outer.node
        return None

    def enclosing_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class whose body (or a method of it, however nested) a node is in."""
        for outer in self.scope_of(node, inner=False).chain():
            if isinstance(outer.node, ast.ClassDef):
                return outer.node
        return None

    def block(self, statement: ast.stmt) -> tuple[list[ast.stmt], int]:
        """The list of statements that one stands in, and its position there."""
        parent = self.parent(statement)
        for name in _BLOCKS:
            siblings = getattr(parent, name, None)
            if isinstance(siblings, list):
                for position, sibling in enumerate(siblings):
                    if sibling is statement:
                        return siblings, position
        raise ValueError(f"{type(statement).__name__} is in no block of {self.path}")

    def scope_of(self, node: ast.AST, *, inner: bool = True) -> Scope:
        """The scope in which code at a node is evaluated; with `inner` that which the node opens, if it opens one."""
        index = self.index
        if inner and node in index.inner:
            return index.inner[node]
        known = index.scopes.get(node)
        if known is not None:
            return known
        child, below = node, node
        parent = index.parents.get(node)
        while parent is not None:
            opened = index.inner.get(parent)
            if opened is not None and self._inside(parent, child, below):
                return opened
            below, child, parent = child, parent, index.parents.get(parent)
        return self.scope

    @staticmethod
    def _inside(owner: ast.AST, child: ast.AST, below: ast.AST) -> bool:
        """Whether a child of a node that opens a scope is evaluated in it."""
        if isinstance(owner, ast.Lambda):
            return child is owner.body
        if isinstance(owner, _COMPREHENSIONS):
            first = owner.generators[0]
            return not (child is first and below is first.iter)
        return isinstance(child, ast.stmt)

    # -- calls and definitions ---------------------------------------------------------------------------------------

    def calls(self) -> list[ast.Call]:
        """Every call, in source order (by where it starts; of two that start together the outer one first)."""
        return self.index.calls

    @property
    def definitions(self) -> list[tuple[str, Definition | ast.Lambda]]:
        """(qualified name within the file, node) of every function, class and lambda; a name may come twice."""
        return self.index.definitions

    @cached_property
    def _by_qualname(self) -> dict[str, list[Definition]]:
        found: defaultdict[str, list[Definition]] = defaultdict(list)
        for qualname, node in self.index.definitions:
            if not isinstance(node, ast.Lambda):
                found[qualname].append(node)
        return found

    def definition(self, dotted: str) -> Definition | None:
        """The last definition of this qualified name in the file (`Trainer.fit`, `outer.inner`)."""
        found = self._by_qualname.get(dotted)
        return found[-1] if found else None

    def qualname(self, node: ast.AST) -> str:
        """The qualified name of a function or class, "" for the module."""
        return self.index.inner[node].qualname

    # -- names -------------------------------------------------------------------------------------------------------

    def lookup(self, scope: Scope, name: str) -> tuple[Scope, list[Binding]] | None:
        """Where Python would find a name that is read in this scope, and all that binds it there."""
        for outer in scope.chain():
            if outer is not scope and outer.kind == "class":
                continue
            if name in outer.globals:
                bound = self.scope.names.get(name)
                return (self.scope, bound) if bound else None
            bound = outer.names.get(name)
            if bound:
                return outer, bound
        return None

    def scope_names(self, node: ast.AST) -> set[str]:
        """Names that code inserted at a node should not bind, or could be surprised by.

        Those bound or used in the scopes around the node, and those used in scopes nested in the innermost function
        (a new binding would capture them), builtins included.
        """
        names: set[str] = set(BUILTINS)
        home: Scope | None = None
        for scope in self.scope_of(node, inner=False).chain():
            names |= scope.used
            if home is None and scope.kind in ("function", "module"):
                home = scope
        assert home is not None
        for scope in home.subtree():
            names |= scope.used
        return names

    @cached_property
    def names(self) -> frozenset[str]:
        """Every name that the file binds or reads, in any scope."""
        return frozenset().union(*(scope.used for scope in self.scope.subtree()))

    @cached_property
    def _bound(self) -> frozenset[str]:
        return frozenset().union(*(scope.names for scope in self.scope.subtree()))

    @cached_property
    def aliases(self) -> frozenset[str]:
        """Names that may stand for something called otherwise: `from wandb import log as send`, `send = wandb.log`."""
        found = set()
        for scope in self.scope.subtree():
            for name, bindings in scope.names.items():
                for binding in bindings:
                    renamed = binding.kind == "from" and binding.name != name
                    if renamed or (binding.kind == "value" and isinstance(binding.node, ast.Attribute)):
                        found.add(name)
        return frozenset(found)

    def is_own(self, name: str) -> bool:
        """Whether the file itself binds this name, in any scope."""
        return name in self._bound

    def binds(self, name: str) -> bool:
        """Whether the file binds this name at module level."""
        return name in self.scope.names
