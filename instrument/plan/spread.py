"""Following a tracker's run into the files that get it from others: handed over, imported, kept in an object.

`travel.py` says by name alone what may carry a run in a file; the resolver is asked before that spreads to another one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from instrument.errors import SourceError
from instrument.plan.emission import Tracker, handles, last_part
from instrument.plan.travel import Travels, leaves
from instrument.repo.scopes import AnyFunction, Binding, terminal
from instrument.repo.values import REPO, Values
from instrument.repo.walk import APPLIERS

if TYPE_CHECKING:
    from instrument.plan.context import Context
    from instrument.repo.names import Module

#: Of more files that import what carries a run, only those that call something of the tracker's name are parsed.
_MAX_IMPORTERS = 100


class Spread:
    """The files of a repository that a tracker's run reaches, found from those that name the tracker."""

    def __init__(self, context: Context, tracker: Tracker) -> None:
        self._context = context
        self._program = context.program
        #: What travels: the tracker where it is called itself, its run, its functions.
        self._handles = handles(tracker)
        self._wanted = self._handles | tracker.emits.keys()
        self._run_names = frozenset(map(last_part, self._wanted))
        self._emits = sorted(set(map(last_part, tracker.emits)))
        #: Classes of the repository that keep a run, and the attributes in which they do.
        self._carriers: set[str] = set()
        self._attributes: set[str] = set()
        #: What travels, and instances of these classes.
        self._all = set(self._wanted)
        #: By file: what carries a run there, and how much of it did when it was last followed into other files.
        self._travels: dict[str, Travels] = {}
        self._seen: dict[str, int] = {}
        #: What files export that carries a run, by module. (path, name) of what another file puts a run into.
        self._exported: dict[str, set[str]] = {}
        self._put: set[tuple[str, str]] = set()

    def reached(self, known: Mapping[str, Module], fresh: Iterable[Module]) -> list[Module]:
        """Editable files that get the run, or one of its functions, from known ones (of which some are new)."""
        for module in fresh:
            self._in(module)
        found: dict[str, Module] = {}
        grown = True
        while grown:
            before = sum(map(len, self._travels.values()))
            for path in [*known, *found]:
                travels = self._travels[path]
                if len(travels) > self._seen.get(path, 0):
                    self._seen[path] = len(travels)
                    for other in (*self._hand_over(travels), *self._put_into(travels), *self._export(travels)):
                        if other.path not in known and self._context.repo.editable(other.path):
                            found.setdefault(other.path, other)
            grown = sum(map(len, self._travels.values())) > before
        return list(found.values())

    def _in(self, module: Module) -> Travels:
        """What travels in a file, with what other files are known to give it."""
        travels = self._travels.get(module.path)
        if travels is None:
            travels = self._travels[module.path] = Travels(module, self._is_run)
            for dotted, names in self._exported.items():
                if dotted != module.dotted:
                    _take_in(travels, dotted, names)
            for name in self._attributes:
                travels.reach(name)
        return travels

    # -- handed over as an argument --------------------------------------------------------------------------------

    def _hand_over(self, travels: Travels) -> Iterator[Module]:
        """Files with a function or class that a call in this one hands a run to."""
        module = travels.module
        own = {node.name for _, node in module.index.definitions if not isinstance(node, ast.Lambda)}
        own -= {binding.name for binding in _imports(module)}
        for call in module.calls():
            if terminal(call.func) in own:
                continue  # what this file hands over within itself is told by name
            values = (*call.args, *(keyword.value for keyword in call.keywords))
            handed = {value for value in values if travels.carries(value) and self._holds(module, value, self._all)}
            if not handed:
                continue
            for owner, function in self._program.definitions(module, call.func):
                given = self._in(owner)
                given.hand_over(function, call, handed.__contains__)
                made = function if isinstance(function, ast.ClassDef) else _made_by(owner, function)
                if made is not None and any(self._holds(module, value, self._wanted) for value in handed):
                    self._is_carrier(given, made)
                yield owner
            if terminal(call.func) in APPLIERS or any(keyword.arg == "args" for keyword in call.keywords):
                for value in values:
                    if isinstance(value, (ast.Name, ast.Attribute)):
                        for owner, function in self._program.definitions(module, value):
                            self._in(owner).hand_over(function, None, handed.__contains__)
                            yield owner

    # -- put into what another file has ----------------------------------------------------------------------------

    def _put_into(self, travels: Travels) -> Iterator[Module]:
        """Files whose variables this one puts a run into: `state.run = ...`, `STATE["run"] = ...`."""
        module = travels.module
        for name in module.index.name_items:
            if name in travels:
                for binding in module.scope.names.get(name, ()):
                    path = self._origin(module, binding) if binding.kind == "from" else None
                    if path is not None:
                        yield from self._put_at(path, binding.name)
        for name, stores in module.index.attributes.items():
            if name in travels:
                for receiver, _ in stores:
                    for value in self._texts(self._program.expr(module, receiver)):
                        path = self._program.path_of(value)
                        if path is not None and not self._program.is_folder(path):
                            yield from self._put_at(path, name)

    def _put_at(self, path: str, name: str) -> Iterator[Module]:
        try:
            other = self._program.module(path)
        except SourceError:
            return
        self._put.add((path, name))
        self._in(other).reach(name)
        yield other

    def _origin(self, module: Module, binding: Binding) -> str | None:
        """The file that `from m import x` takes a name from."""
        finder, parts = self._program.finder, binding.dotted.split(".") if binding.dotted else []
        if not binding.level:
            found = finder.find(binding.dotted, module.path)
        else:
            place = finder.relative(module.path, binding.level)
            found = finder.below(place, parts) if place is not None else None
        return found if found is not None and not self._program.is_folder(found) else None

    # -- imported --------------------------------------------------------------------------------------------------

    def _export(self, travels: Travels) -> list[Module]:
        """Files that import something which carries a run from this one: a function that returns it, a class."""
        module = travels.module
        exported = self._exported.setdefault(module.dotted, set())
        fresh = {name for name in travels.shared() - exported if self._shares(travels, name)}
        if not fresh:
            return []
        exported |= fresh
        for other in self._travels.values():
            if other is not travels:
                _take_in(other, module.dotted, exported)
        repo, parts = self._context.repo, [part.encode() for part in module.dotted.split(".")]
        repo.widen({name.encode() for name in fresh})
        self._program.rescanned()
        named = set[str]().union(*(repo.mentioning(name.encode()) for name in fresh))
        paths = [path for path in sorted(named) if path not in self._travels and repo.editable(path)]
        paths = [path for path in paths if (data := repo.read(path)) and any(part in data for part in parts)]
        if len(paths) > _MAX_IMPORTERS:
            called = re.compile(rb"\.\s*(?:" + b"|".join(name.encode() for name in self._emits) + rb")\s*\(")
            paths = [path for path in paths if called.search(repo.read(path))]
        return [found for found in self._program.parsed(paths) if len(self._in(found)) > 1]

    def _shares(self, travels: Travels, name: str) -> bool:
        """Whether what a file has at top level under a name is, gives or keeps a run."""
        module = travels.module
        if (module.path, name) in self._put:
            return True
        for binding in module.scope.names[name]:
            node = binding.node
            if isinstance(node, ast.ClassDef):
                if self._keeps(travels, node):
                    self._is_carrier(travels, node)
                if f"{REPO}{module.dotted}.{name}" in self._carriers:
                    return True
            elif binding.kind == "def" and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                if self._gives(module, node, self._all):
                    return True
            elif binding.kind == "from":
                # What another file has under this name was looked at there.
                if any(binding.name in names for names in self._exported.values()):
                    return True
            elif self._texts(self._program.name(module, module.scope, name)) & (self._all | self._carriers):
                return True
        return False

    def _keeps(self, travels: Travels, node: ast.ClassDef) -> bool:
        """Whether a class keeps a run itself; one that keeps an object with a run in it does not count."""
        module, program = travels.module, self._program
        if any(program.resolve(module, base) & self._carriers for base in node.bases):
            return True
        scope = module.index.inner[node]
        for kept in (scope.self_attributes, scope.self_items, scope.names):
            for name in kept:
                if name not in travels:
                    continue
                for binding in kept[name]:
                    if binding.kind != "def":
                        if self._texts(program.binding(module, binding)) & self._wanted:
                            return True
                    elif isinstance(binding.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        if self._gives(module, binding.node, self._wanted):
                            return True
        return False

    def _is_carrier(self, travels: Travels, node: ast.ClassDef) -> None:
        module = travels.module
        own = f"{REPO}{module.dotted}.{module.index.inner[node].qualname}"
        self._carriers.add(own)
        self._all |= {own + "()"}
        fresh = travels.attributes(node) - self._attributes
        self._attributes |= fresh
        for other in self._travels.values():
            for name in fresh:
                other.reach(name)

    # -- what the resolver says ------------------------------------------------------------------------------------

    def _is_run(self, module: Module, node: ast.expr) -> bool:
        """Whether an expression is the tracker's run, or one of its functions."""
        name = terminal(node.func if isinstance(node, ast.Call) else node)
        if name not in self._run_names and not (
            isinstance(node, ast.Name)
            and any(b.kind == "module" and b.name in self._handles for b in module.scope.names.get(node.id, ()))
        ):
            return False
        return bool(self._program.resolve(module, node) & self._wanted)

    def _holds(self, module: Module, value: ast.expr, wanted: Iterable[str]) -> bool:
        """Whether a value that may carry a run by its name does so."""
        return any(not self._program.resolve(module, leaf).isdisjoint(wanted) for leaf in leaves(value))

    def _gives(self, module: Module, function: ast.FunctionDef | ast.AsyncFunctionDef, wanted: Iterable[str]) -> bool:
        """Whether a function returns or yields a run."""
        program, scope = self._program, module.index.inner[function]
        if not program.returns(module, function).isdisjoint(wanted):
            return True
        return any(not program.resolve(module, value).isdisjoint(wanted) for value in scope.yields)

    def _texts(self, values: Values) -> frozenset[str]:
        return frozenset(value for value in self._program.expanded(values) if isinstance(value, str))


def _made_by(module: Module, function: AnyFunction) -> ast.ClassDef | None:
    """The class whose constructor a function is."""
    if isinstance(function, ast.Lambda) or function.name != "__init__":
        return None
    return module.enclosing_class(function)


def _take_in(travels: Travels, dotted: str, names: Iterable[str]) -> None:
    """Names that carry a run in one file do so in another that imports from it, or from a package around it."""
    parts = set(dotted.split("."))
    for binding in _imports(travels.module):
        if not parts.isdisjoint((*binding.dotted.split("."), binding.name)):
            for name in names:
                travels.reach(name)
            return


def _imports(module: Module) -> Iterator[Binding]:
    """Everything that a file imports, wherever it does."""
    for scope in module.scope.subtree():
        for bindings in scope.names.values():
            yield from (binding for binding in bindings if binding.kind in ("module", "from"))
    yield from module.index.stars
